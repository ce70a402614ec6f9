"""explore: which edits of claims make them find more, as training data for rewriting."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from domain.errors import BadInput

if TYPE_CHECKING:
    from models.rewriting.exploration.run import Plan
    from models.rewriting.exploration.statistics import Statistics

app = typer.Typer()


@app.command()
def explore(
    out: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the data goes, or (--stats) lies.")],
    claims: Annotated[str, typer.Option(help="Claim set and split, as fever/paper_dev.")] = "fever/paper_dev",
    endpoint: Annotated[Literal["ranked", "dense", "boolean"], typer.Option(help="Kind of search.")] = "ranked",
    data: Annotated[Path | None, typer.Option(help="Folder of the data sets; default CLAIMWATCH_DATA.")] = None,
    depth: Annotated[int, typer.Option(min=1, max=8, help="At most so many edits.")] = 4,
    states: Annotated[int, typer.Option(min=1, help="Go on from the best so many texts of each depth.")] = 200,
    negatives: Annotated[int, typer.Option(min=0, help="Follow so many losing edits of each text too.")] = 0,
    analyser: Annotated[
        Literal["standard", "english"], typer.Option(help="Of the ranked index: words as they are, or stems.")
    ] = "standard",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many claims.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to do it instead.")] = None,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    stats: Annotated[bool, typer.Option("--stats", help="Only say what the folder holds.")] = False,
    json: JsonFlag = False,
) -> None:
    """Search for edits that make claims find more. A run that was cut off goes on where it stopped."""
    from domain.query import EndpointKind
    from models.rewriting.exploration.breadth_first import Limits
    from models.rewriting.exploration.run import Plan
    from models.rewriting.exploration.statistics import statistics

    if not stats:
        name, _, split = claims.partition("/")
        settings = session.settings()
        plan = Plan(
            _folder(data or settings.data), name, split, EndpointKind(endpoint),
            Limits(depth=depth, states=states, losers=negatives), analyser=analyser, encoder=settings.match.encoder,
            cache=settings.home / "cache", most_claims=limit, seed=seed,
        )  # fmt: skip
        _run(plan, out, jobs=jobs, cluster=dask)
    found = statistics(out)
    if json:
        return terminal.say_json(asdict(found))
    _say(found)


def _folder(data: Path | None) -> Path:
    if data is None:
        raise BadInput("give the folder of the data sets with --data, or set CLAIMWATCH_DATA")
    if not data.is_dir():
        raise BadInput(f"--data {data}: there is no such folder")
    return data


def _run(plan: "Plan", out: Path, *, jobs: int, cluster: str | None) -> None:
    from models.rewriting.exploration import run

    with terminal.progress("claims") as bar:
        task = bar.add_task("exploring", total=run.claims(plan))
        for done in run.run(plan, out, jobs=jobs, cluster=cluster):
            bar.advance(task, done.claims)


def _say(found: "Statistics") -> None:
    if found.missing:
        terminal.say(f"{found.missing:,} claims are still to be explored: give the command again without --stats")
    terminal.say(
        f"{found.claims:,} claims, {found.perfect:,} perfect as they are, {found.improved:,} improved: "
        f"{found.worth:.3f} → {found.best:.3f} on average"
    )
    rows = [(row.action, f"{row.share:.1%}", f"{row.gain:+.3f}") for row in found.actions]
    terminal.say_table(["edit", "of all steps", "gain"], rows)
    lengths = ", ".join(f"{number:,} of {edits}" for edits, number in found.lengths.items())
    gains = ", ".join(f"{step}: {gain:+.3f}" for step, gain in found.gains.items())
    terminal.say(f"sequences by their edits: {lengths or 'none'}; gain by step: {gains or 'none'}")
