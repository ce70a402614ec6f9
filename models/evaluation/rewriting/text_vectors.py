"""Embeddings of queries kept between runs, text by text: a new row of a table embeds only what no row had before."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.ranking.encoder import TextEncoder

_AT_ONCE = 1024  # texts between two writes: what a stop can lose
_WAIT_S = 60  # for another process that writes


class KeptVectors:
    """The encoder, with a file of all it has embedded. May be used by several processes, not by several threads."""

    def __init__(self, encoder: TextEncoder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._encoder, self._path = encoder, folder / f"texts-{encoder.version}.sqlite"
        with closing(self._connect()) as connection, connection:
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, dim)."""
        with closing(self._connect()) as connection:
            known = {text: row for text in dict.fromkeys(texts) if (row := _kept(connection, text)) is not None}
            new = sorted({text for text in texts if text not in known}, key=len)
            for part in (new[start : start + _AT_ONCE] for start in range(0, len(new), _AT_ONCE)):
                made = dict(zip(part, self._encoder.encode(part), strict=True))
                with connection:
                    rows = [(text, vector.tobytes()) for text, vector in made.items()]
                    connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
                known |= made
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(len(texts), self._encoder.dim)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_WAIT_S)


def _kept(connection: sqlite3.Connection, text: str) -> NDArray[np.float32] | None:
    row = connection.execute("SELECT vector FROM vectors WHERE text = ?", (text,)).fetchone()
    return None if row is None else np.frombuffer(row[0], dtype=np.float32)
