"""Opens a file as bytes or text, and says in one line what is wrong with it as a whole."""

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from domain.errors import BadInput

LONGEST_LINE = 16 * 2**20  # characters; a longer one is no record but a fault
LARGEST_DOCUMENT = 512 * 2**20  # bytes of a document that must be read at once
_CHUNK = 2**20  # bytes
_GZIP = b"\x1f\x8b"
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip

Stream: TypeAlias = "io.BufferedReader[Any]"


@contextmanager
def opened(path: Path) -> Iterator[Stream]:
    """The bytes of a file, unpacked if they are gzip. Raises BadInput if it is missing, empty, unreadable or cut."""
    try:
        with path.open("rb", buffering=0) as file:
            stream: Stream = io.BufferedReader(file, _CHUNK)
            if stream.peek(len(_GZIP)).startswith(_GZIP):
                stream = io.BufferedReader(gzip.GzipFile(fileobj=stream), _CHUNK)
            if not stream.peek(1):
                raise empty(path)
            yield stream
    except (OSError, EOFError, zlib.error) as exc:
        reason = getattr(exc, "strerror", None) or str(exc)
        raise BadInput(f"{path} cannot be read ({reason}): check the path and that the file is whole") from exc


def empty(path: Path) -> BadInput:
    return BadInput(f"{path} is empty: give a file with fact-checks")


def lines(stream: Stream, path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Lines without their ends, with their numbers from 1; `\\n`, `\\r\\n` and `\\r` end one.

    Never holds more than one line and a chunk. Raises BadInput for a wrong encoding or a line too long for a record.
    """
    decoder = _Decoder(stream, path, encoding)
    number, begun, chunk = 1, "", b"-"
    while chunk:
        chunk = stream.read(_CHUNK)
        *complete, begun = (begun + decoder.decode(chunk, line=number)).split("\n")
        for line in complete:
            yield number, _bounded(line, path, number)
            number += 1
        _bounded(begun, path, number)
    if begun:
        yield number, begun


def _bounded(line: str, path: Path, number: int) -> str:
    if len(line) > LONGEST_LINE:
        raise BadInput(f"{path} line {number} is longer than {LONGEST_LINE >> 20} MiB: give one record a line")
    return line


def document(stream: Stream, path: Path, encoding: str) -> str:
    """The whole text of a file. Raises BadInput for a wrong encoding, or if there is none or too much of it."""
    decoder = _Decoder(stream, path, encoding)
    text = decoder.decode(document_bytes(stream, path), line=1) + decoder.decode(b"", line=1)
    if not text.strip():
        raise empty(path)
    return text


def document_bytes(stream: Stream, path: Path) -> bytes:
    """All bytes of a file. Raises BadInput if there are too many."""
    data = stream.read(LARGEST_DOCUMENT + 1)
    if len(data) > LARGEST_DOCUMENT:
        raise BadInput(f"{path} is larger than {LARGEST_DOCUMENT >> 20} MiB: give it as JSONL, one record a line")
    return data


class _Decoder:
    """Bytes to text piece by piece, line ends as `\\n`. Says where in the file a byte is that cannot be decoded."""

    def __init__(self, stream: Stream, path: Path, encoding: str) -> None:
        self._path, self._encoding, self._read = path, encoding, 0
        start = stream.peek(4)
        try:
            io.TextIOWrapper(io.BytesIO(), encoding).close()
            unicode = codecs.lookup(encoding).name in {"utf-8", "utf-8-sig", "ascii"}
        except LookupError as exc:
            raise BadInput(f"--encoding {encoding}: there is no such encoding; write utf-8, latin-1 or cp1252") from exc
        if unicode and (found := _wide_encoding(start)):
            raise BadInput(f"{path} is {found.upper()}: save it as UTF-8, or give --encoding {found}")
        name = "utf-8-sig" if unicode else encoding  # a byte order mark is no part of the text
        self._decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(name)(), translate=True)

    def decode(self, data: bytes, *, line: int) -> str:
        """The text of the next bytes, none for the end; `line` is the one they begin in."""
        try:
            text: str = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as exc:
            offset = self._read + len(data) - len(exc.object) + exc.start
            line += exc.object.count(b"\n", 0, exc.start)
            raise BadInput(
                f"{self._path}: byte {offset} (line {line}, 0x{exc.object[exc.start]:02x}) is no "
                f"{self._encoding.removesuffix('-sig')}: save the file as UTF-8, or say what it is with --encoding "
                "(latin-1, cp1252, …)"
            ) from exc
        except UnicodeError as exc:  # without a place: UTF-16 that begins with no byte order mark
            raise BadInput(
                f"{self._path} is no {self._encoding} ({exc}): say what it is with --encoding (utf-8, cp1252, …)"
            ) from exc
        self._read += len(data)
        return text


def _wide_encoding(start: bytes) -> str | None:
    """What a file's first bytes show it to be, if that is UTF-16 or UTF-32."""
    marked = next((name for mark, name in _MARKS if start.startswith(mark)), None)
    if marked or len(start) < 4:
        return marked
    if start[1] == start[3] == 0 != start[0] * start[2]:
        return "utf-16-le"
    return "utf-16-be" if start[0] == start[2] == 0 != start[1] * start[3] else None
