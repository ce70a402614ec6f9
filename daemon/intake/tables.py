"""CSV and TSV, as spreadsheets and programs write them."""

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from daemon.intake.columns import plain_name, raw_from_row, unknown_mapping
from daemon.intake.formats import ending
from daemon.intake.source import Item, Source
from daemon.intake.source_file import LONGEST_LINE, Stream, empty, lines
from domain.errors import BadInput

Line = tuple[int, str]


@dataclass(frozen=True, slots=True)
class _Record:
    """A record and its first line; without cells where its quotes are wrong."""

    row: int
    text: str
    cells: list[str] | None


def read_table(source: Source, stream: Stream) -> Iterator[Item]:
    """One item a record. The first line names the columns; raises BadInput for an unknown one, or without a claim."""
    numbered = lines(stream, source.path, source.options.encoding)
    first = next(((n, line) for n, line in numbered if line.strip()), None)
    if first is None:
        raise empty(source.path)
    records = _records(deque([first]), numbered, _delimiter(first[1], ending(source.path)))
    header = _header(source, next(records, None))
    columns = source.columns(header)
    if "claim" not in columns.values():
        raise BadInput(
            f"{source.path} has no column with the claim: its first line must name the columns (--map COLUMN=claim)"
        )
    for record in records:
        if record.cells is None:
            yield source.rejected(record.row, "its quotes are not closed, or text follows a closing quote", record.text)
        elif len(record.cells) != len(header):
            reason = f"it has {len(record.cells)} cells, the header has {len(header)}"
            yield source.rejected(record.row, reason, record.text)
        else:
            raw = raw_from_row(dict(zip(header, record.cells, strict=True)), columns)
            yield source.cleaned(raw, record.row, record.text)


def _delimiter(header: str, name_ending: str) -> str:
    """The one that stands most often in the header: spreadsheets of many countries write semicolons into a .csv."""
    return max("\t,;|" if name_ending == ".tsv" else ",;\t|", key=header.count)


def _header(source: Source, record: _Record | None) -> list[str]:
    if record is None or record.cells is None:
        raise BadInput(f"{source.path} line 1: the quotes of the header are not closed: correct them")
    header = [cell.replace("\0", "").strip() for cell in record.cells]
    named = [name for name in header if name]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise BadInput(f"{source.path} has two columns named {twice!r}: rename one")
    _check_columns(source, named)
    return header


def _check_columns(source: Source, named: list[str]) -> None:
    """Raises BadInput for a mapped column that is not there, or two whose names differ in their case alone."""
    options = source.options
    if missing := set(options.columns) - set(named):
        raise unknown_mapping(missing, file=str(source.path))
    names: dict[str, str] = {}
    for name in named:
        if name in options.columns or name in options.ignore:
            continue
        if (other := names.setdefault(plain_name(name), name)) != name:
            raise BadInput(
                f"{source.path} has two columns, {other!r} and {name!r}, of one name: rename one, or leave it out "
                f"with --ignore {name!r}"
            )


def _records(waiting: deque[Line], numbered: Iterator[Line], delimiter: str) -> Iterator[_Record]:
    """Records with the lines they are made of.

    A quote that is never closed would swallow the rest of the file: such a record ends with its first line, and the
    lines after it are read anew.
    """
    csv.field_size_limit(LONGEST_LINE)
    while True:
        taken: list[Line] = []
        reader = csv.reader(_feed(waiting, numbered, taken), delimiter=delimiter, strict=True)
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            row, text = taken[0]
            waiting.extendleft(reversed(taken[1:]))
            yield _Record(row, text, None)
            continue
        if any(cell.strip() for cell in cells):  # spreadsheets leave rows of nothing at the end
            yield _Record(taken[0][0], "\n".join(text for _, text in taken), cells)


def _feed(waiting: deque[Line], numbered: Iterator[Line], taken: list[Line]) -> Iterator[str]:
    """Lines as the CSV reader takes them, those that wait first; each is noted in `taken`."""
    while line := waiting.popleft() if waiting else next(numbered, None):
        taken.append(line)
        yield line[1] + "\n"
