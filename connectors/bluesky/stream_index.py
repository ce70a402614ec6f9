"""Posts of a stream on this machine, searched by their words: SQLite's full-text index, written by one process and read
by others."""

import json
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from connectors.protocol import Window
from domain.post import Post

_SCHEMA = """
CREATE TABLE posts (
    number INTEGER PRIMARY KEY, uri TEXT UNIQUE NOT NULL, author TEXT, text TEXT NOT NULL, url TEXT,
    links TEXT NOT NULL, language TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX posts_at ON posts (at);
CREATE INDEX posts_author ON posts (author);
CREATE VIRTUAL TABLE words USING fts5 (text, content='posts', content_rowid='number');
CREATE TABLE removed (uri TEXT PRIMARY KEY, at INTEGER NOT NULL);
CREATE TABLE place (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
"""
_WAIT_S = 10.0  # for another process to finish writing
_MICRO = 1_000_000


class StreamIndex:
    """May be shared by threads and processes: each use has a connection of its own."""

    def __init__(self, file: Path, platform: str) -> None:
        self._file, self._platform = file, platform

    def write(
        self, posts: Iterable[Post], removed: Iterable[str], authors: Iterable[str], cursor: int | None, now: datetime
    ) -> None:
        """Posts in, those removed or of removed authors out, with the place in the stream: all or nothing."""
        self._make()
        with self._open() as conn:
            for post in posts:
                self._put(conn, post)
            for author in authors:
                removed = [
                    *removed,
                    *(uri for (uri,) in conn.execute("SELECT uri FROM posts WHERE author = ?", [author])),
                ]
            for uri in removed:
                self._take_out(conn, uri)
                conn.execute("INSERT OR REPLACE INTO removed VALUES (?, ?)", [uri, _micros(now)])
            if cursor is not None:
                conn.execute("INSERT OR REPLACE INTO place VALUES ('cursor', ?)", [cursor])

    def drop_before(self, moment: datetime) -> None:
        """Let posts go that are older than what is searched."""
        with self._open() as conn:
            for (uri,) in conn.execute("SELECT uri FROM posts WHERE at < ?", [_micros(moment)]).fetchall():
                self._take_out(conn, uri)
            conn.execute("DELETE FROM removed WHERE at < ?", [_micros(moment)])

    @property
    def cursor(self) -> int | None:
        """The last event that was taken in."""
        if not self._file.exists():
            return None
        with self._open() as conn:
            row = conn.execute("SELECT value FROM place WHERE name = 'cursor'").fetchone()
        return row[0] if row else None

    def search(self, match: str, window: Window, offset: int, limit: int) -> list[Post]:
        """Posts that fit an FTS5 expression, the newest first."""
        with self._open() as conn:
            rows = conn.execute(
                "SELECT uri, author, text, url, links, language, at FROM posts WHERE at >= ? AND at < ?"
                " AND number IN (SELECT rowid FROM words WHERE words MATCH ?) ORDER BY at DESC, uri LIMIT ? OFFSET ?",
                [_micros(window.since), _micros(window.until), match, limit, offset],
            ).fetchall()
        return [self._post(row) for row in rows]

    def count(self, match: str, window: Window) -> int:
        with self._open() as conn:
            row = conn.execute(
                "SELECT count(*) FROM posts WHERE at >= ? AND at < ?"
                " AND number IN (SELECT rowid FROM words WHERE words MATCH ?)",
                [_micros(window.since), _micros(window.until), match],
            ).fetchone()
        return int(row[0])

    def removed(self, uris: Sequence[str]) -> set[str]:
        """Those that the stream has said were removed."""
        with self._open() as conn:
            return {uri for uri in uris if conn.execute("SELECT 1 FROM removed WHERE uri = ?", [uri]).fetchone()}

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        conn = sqlite3.connect(self._file, timeout=_WAIT_S)
        try:
            with conn:
                yield conn
        finally:
            conn.close()

    def _make(self) -> None:
        """Make the file unless it is there; it appears whole, since readers may be looking for it."""
        if self._file.exists():
            return
        with tempfile.TemporaryDirectory(dir=self._file.parent) as folder:
            made = Path(folder) / "made"
            conn = sqlite3.connect(made)
            conn.execute("PRAGMA journal_mode = WAL")  # readers and the writer do not wait for each other
            conn.executescript(_SCHEMA)
            conn.close()
            made.rename(self._file)

    def _put(self, conn: sqlite3.Connection, post: Post) -> None:
        self._take_out(conn, post.platform_id)
        number = conn.execute(
            "INSERT INTO posts (uri, author, text, url, links, language, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [post.platform_id, post.author, post.text, post.url, json.dumps(post.links), post.language,
             _micros(post.created_at)],
        ).lastrowid  # fmt: skip
        conn.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", [number, post.text])

    def _take_out(self, conn: sqlite3.Connection, uri: str) -> None:
        row = conn.execute("SELECT number, text FROM posts WHERE uri = ?", [uri]).fetchone()
        if row:  # the words first: the index looks up what it must forget
            conn.execute("INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", row)
            conn.execute("DELETE FROM posts WHERE number = ?", row[:1])

    def _post(self, row: Sequence[Any]) -> Post:
        uri, author, text, url, links, language, at = row
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
        return Post(self._platform, uri, text, moment, url, author, tuple(json.loads(links)), language)


def _micros(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
