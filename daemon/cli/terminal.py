"""What commands write: tables for people, JSON for machines; standard output is only ever the answer."""

import io
import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from domain.errors import ClaimwatchError

if TYPE_CHECKING:
    from rich.progress import Progress

JsonFlag = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]


_SHORT = 16  # characters, as a time has


class OutputFailed(ClaimwatchError):
    """Standard output cannot be written."""


class _Output(io.TextIOWrapper):
    """Standard output that says what is wrong with it, whoever writes to it."""

    def write(self, text: str, /) -> int:
        with _output_faults():
            return super().write(text)

    def flush(self) -> None:
        with _output_faults():
            super().flush()


@contextmanager
def _output_faults() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        _give_up_output()
        sys.exit(128 + signal.SIGPIPE)  # as programs end whose reader has what it wants
    except OSError as exc:
        _give_up_output()
        raise OutputFailed(f"standard output cannot be written ({exc.strerror}): send it elsewhere") from exc


def _give_up_output() -> None:
    """Let what is still in a buffer go nowhere, or it fails once more when the program ends."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)


def open_output() -> None:
    """Set up standard output. Raises OutputFailed if it is closed."""
    if sys.stdout is None:
        raise OutputFailed("standard output is closed: send it to a file, or to /dev/null")
    given = cast(io.TextIOWrapper, sys.stdout)
    encoding, lines = given.encoding, given.line_buffering
    sys.stdout = _Output(given.detach(), encoding, errors="replace", line_buffering=lines)


def say(text: str) -> None:
    """A line of the answer. Text from outside is printed as it is, never as markup."""
    from rich.console import Console
    from rich.text import Text

    Console().print(Text(text), soft_wrap=True)


def say_json(value: object) -> None:
    unicode = sys.stdout.encoding.lower().startswith("utf")
    sys.stdout.write(json.dumps(value, ensure_ascii=not unicode, indent=2, default=_plain) + "\n")


def say_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    """A table; cells are printed as they are. Where there is too little room, columns of sentences are folded."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=title, title_justify="left", header_style="bold", box=box.SIMPLE_HEAD, collapse_padding=True,
        pad_edge=False,
    )  # fmt: skip
    cells = [[_cell(value) for value in row] for row in rows]
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=all(_is_short(row[number]) for row in cells))
    for row in cells:
        table.add_row(*map(Text, row))
    Console().print(table)


def say_facts(facts: Mapping[str, object]) -> None:
    """Names and values, one pair a line."""
    width = max((len(name) for name in facts), default=0)
    for name, value in facts.items():
        say(f"{name:<{width}}  {_cell(value)}")


def progress(unit: str) -> "Progress":
    """A progress bar on standard error, gone where that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeElapsedColumn(),
        console=Console(stderr=True), transient=False, disable=not sys.stderr.isatty(),
    )  # fmt: skip


def _is_short(cell: str) -> bool:
    """Whether a cell is a number, a time, a state: something that is read at one glance."""
    return len(cell) <= _SHORT and (" " not in cell or cell[:1].isdigit())


def _cell(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, list | tuple):
        return ", ".join(str(part) for part in value)
    return "" if value is None else str(value)


def _plain(value: Any) -> object:
    return value.isoformat() if isinstance(value, datetime | date) else str(value)
