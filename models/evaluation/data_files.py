"""The files that data sets come in, row by row; what is wrong with one is said with its path."""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from domain.errors import BadInput


def existing(path: Path) -> Path:
    if not path.is_file():
        raise BadInput(f"{path} is not there: give the folder that holds it with --data or CLAIMWATCH_DATA")
    return path


def read_texts(path: Path) -> dict[str, str]:
    """Rows of an id, a tab and a text."""
    with existing(path).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            raise BadInput(f"{path}, row {number}: expected an id, a tab and a text")
    return {row[0]: row[1] for row in rows}


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """One object a line, compressed."""
    with _opened(path) as file:
        for row, line in enumerate(file, 1):
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise BadInput(f"{path}, row {row}: no valid JSON ({error.msg})") from error


def read_json(path: Path) -> Any:
    """One value, compressed."""
    with _opened(path) as file:
        try:
            return json.load(file)
        except json.JSONDecodeError as error:
            raise BadInput(f"{path}: no valid JSON ({error.msg})") from error


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    with gzip.open(existing(path), "rt", encoding="utf-8") as file:
        try:
            yield file
        except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
            raise BadInput(f"{path} is cut off or damaged ({error}): fetch it again") from error
