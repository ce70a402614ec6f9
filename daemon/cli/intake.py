"""import: fact-checks from files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from daemon.service import Service
from domain.errors import BadInput
from domain.text import shorten

if TYPE_CHECKING:
    from daemon.importing import Imported
    from daemon.intake.reader import ReadOptions

app = typer.Typer()
_NAMED = 10  # of what a person is told one by one; --json holds all


@app.command("import")
def import_files(
    files: Annotated[list[Path], typer.Argument(help="ClaimReview JSON-LD (page, feed, dump), CSV or JSONL; .gz too.")],
    map_column: Annotated[
        list[str] | None, typer.Option("--map", help="column=field, for a column under another name.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave out.")] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of text files.")] = "utf-8-sig",
    publisher: Annotated[str, typer.Option(help="Publisher of records that name none.")] = "",
    default_rating: Annotated[str, typer.Option(help="Rating of records that have none.")] = "",
    format: Annotated[str | None, typer.Option(help="What the files are, if not as their names say.")] = None,
    json: JsonFlag = False,
) -> None:
    """Take in fact-checks. What cannot be used goes to quarantine with its reason; exit code 2 says there was some."""
    from daemon.intake.reader import ReadOptions
    from daemon.preparation import prepare

    options = ReadOptions(
        format=format, encoding=encoding, columns=_mapping(map_column or []), ignore=frozenset(ignore or []),
        default_rating=default_rating, publisher=publisher,
    )  # fmt: skip
    with session.service() as service:
        results = [_import(service, file, options) for file in files]
        with terminal.progress("fact-checks") as bar:
            task = bar.add_task("preparing", total=sum(r.added + r.changed for r in results))
            prepared = prepare(service, lambda n: bar.advance(task, n))
    if json:
        terminal.say_json([r.as_dict() for r in results])
    else:
        terminal.say_table(["file", "added", "changed", "unchanged", "in quarantine"], [r.as_row() for r in results])
        terminal.say(f"{prepared.ready} prepared, {prepared.watched} newly watched")
    for line in _notes(results):
        typer.echo(line, err=True)
    raise typer.Exit(2 if any(r.quarantined or r.unusable for r in results) or prepared.set_aside else 0)


def _import(service: Service, file: Path, options: "ReadOptions") -> "Imported":
    """A file that cannot be used keeps no other one out."""
    from daemon.importing import Imported, import_file

    try:
        return import_file(service, file, options)
    except BadInput as exc:
        return Imported(str(file), unusable=str(exc))


def _notes(results: Sequence["Imported"]) -> Iterator[str]:
    """What to tell a person besides the numbers, one line each."""
    for result in results:
        if result.unusable:
            yield f"claimwatch: {result.unusable}"
        if result.is_empty:
            yield f"{result.file}: holds no record"
        yield from result.faults[:_NAMED]
        if (more := len(result.faults) - _NAMED) > 0:
            yield f"{result.file}: and {more} more: `claimwatch import --json` names all"
    yield from _unknown_ratings(results)


def _unknown_ratings(results: Iterable["Imported"]) -> Iterator[str]:
    unknown: Counter[str] = Counter()
    for result in results:
        unknown.update(result.unknown_ratings)
    if unknown:
        named = ", ".join(f"'{shorten(rating, 60)}'" for rating, _ in unknown.most_common(_NAMED))
        count, more = unknown.total(), ", …" * (len(unknown) > _NAMED)
        yield f"{count} {'has' if count == 1 else 'have'} a rating we do not know: {named}{more}"


def _mapping(pairs: list[str]) -> dict[str, str]:
    split = [pair.partition("=") for pair in pairs]
    if bad := [
        pair for pair, (column, equals, field) in zip(pairs, split, strict=True) if not (column and equals and field)
    ]:
        raise BadInput(f"--map {bad[0]}: write it as column=field")
    return {column: field for column, _, field in split}
