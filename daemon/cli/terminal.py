"""What commands write: tables for people, JSON for machines; standard output is only ever the answer."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

JsonFlag = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]


def say(text: str) -> None:
    """A line of the answer. Text from outside is printed as it is, never as markup."""
    Console().print(Text(text), soft_wrap=True)


def say_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=_plain) + "\n")


def say_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None) -> None:
    """A table; cells are printed as they are."""
    table = Table(title=title, title_justify="left", header_style="bold", box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))
    Console().print(table)


def say_facts(facts: Mapping[str, object]) -> None:
    """Names and values, one pair a line."""
    width = max((len(name) for name in facts), default=0)
    for name, value in facts.items():
        say(f"{name:<{width}}  {_cell(value)}")


def progress(unit: str) -> Progress:
    """A progress bar on standard error, gone where that is no terminal."""
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit), TimeElapsedColumn(),
        console=Console(stderr=True), transient=False, disable=not sys.stderr.isatty(),
    )  # fmt: skip


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
