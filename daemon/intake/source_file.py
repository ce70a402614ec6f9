"""Opens a file as text, and says in one line what is wrong with it as a whole."""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from domain.errors import BadInput

LONGEST_LINE = 16 * 2**20  # bytes; a longer one is no record but a fault
_LARGEST_DOCUMENT = 1024 * 2**20  # bytes of a document that must be read at once


@contextmanager
def reading(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked. Raises BadInput where it is missing, empty, a folder, unreadable or cut off."""
    try:
        if path.stat().st_size == 0:
            raise BadInput(f"{path} is empty: give a file with fact-checks")
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield file  # type: ignore[misc]  # GzipFile reads like any other
    except (OSError, EOFError, zlib.error) as exc:
        reason = getattr(exc, "strerror", None) or str(exc)
        raise BadInput(f"{path} cannot be read ({reason}): check the path and that the file is whole") from exc


def lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, from 1. Raises BadInput for wrong encoding or a line too long to be a record."""
    decoder = _decoder(path, encoding)
    with reading(path) as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise BadInput(
                    f"{path} line {number} is longer than {LONGEST_LINE >> 20} MiB: split the file into records"
                )
            if number == 1:
                _refuse_utf16(path, line)
            yield number, _decode(path, line, decoder if number == 1 else encoding.removesuffix("-sig"), number)
        if number == 0:
            raise BadInput(f"{path} is empty: give a file with fact-checks")


def document(path: Path, encoding: str) -> str:
    """The whole text of a file."""
    _decoder(path, encoding)
    with reading(path) as file:
        data = file.read(_LARGEST_DOCUMENT + 1)
    if len(data) > _LARGEST_DOCUMENT:
        raise BadInput(f"{path} is larger than {_LARGEST_DOCUMENT >> 20} MiB: give it as JSONL, one record a line")
    _refuse_utf16(path, data)
    if not data.strip():
        raise BadInput(f"{path} is empty: give a file with fact-checks")
    return _decode(path, data, encoding, 1)


def _decoder(path: Path, encoding: str) -> str:
    try:
        codecs.lookup(encoding)
    except LookupError as exc:
        raise BadInput(
            f"--encoding {encoding}: there is no such encoding; write utf-8, latin-1 or cp1252 for {path}"
        ) from exc
    return encoding


def _decode(path: Path, data: bytes, encoding: str, line: int) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as exc:
        line += data[: exc.start].count(b"\n")
        raise BadInput(
            f"{path} line {line}: byte 0x{data[exc.start]:02x} is no {encoding.removesuffix('-sig')}: save the file "
            "as UTF-8, or say what it is with --encoding (latin-1, cp1252, …)"
        ) from exc


def _refuse_utf16(path: Path, data: bytes) -> None:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadInput(f"{path} is UTF-16: save it as UTF-8, or give --encoding utf-16")
