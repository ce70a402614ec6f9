"""run, worker, tick, status, doctor, migrate."""

from pathlib import Path
from typing import Annotated

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from domain.errors import BadInput

app = typer.Typer()


@app.command()
def run() -> None:
    """Run the service: ticks and one worker, until stopped. SIGTERM finishes the job in hand."""
    from daemon.jobs import Jobs
    from daemon.ticking import ticking
    from daemon.wiring import open_postman

    with session.service() as service:
        jobs = Jobs(service, open_postman(service.settings))
        with ticking(jobs.tick, every_s=service.settings.service.tick_s):
            jobs.work(until_empty=False)


@app.command()
def worker(until_empty: bool = typer.Option(False, "--until-empty", help="Stop when no job is left.")) -> None:
    """Run one more worker, until stopped."""
    from daemon.jobs import Jobs
    from daemon.wiring import open_postman

    with session.service() as service:
        Jobs(service, open_postman(service.settings)).work(until_empty=until_empty)


@app.command()
def stream(connector: Annotated[str, typer.Argument(help="Name of the connector in the settings.")]) -> None:
    """Follow a platform's stream into the index on this machine, until stopped."""
    import signal
    from threading import Event

    from connectors.protocol import Streaming

    stopping = Event()
    with session.service() as service:
        chosen = service.connectors.get(connector)
        if not isinstance(chosen, Streaming):
            names = [name for name, one in service.connectors.items() if isinstance(one, Streaming)]
            raise BadInput(
                f"{connector} is no connector with a stream: choose from {', '.join(names) or 'none set up'}"
            )
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        chosen.follow(stopping)


@app.command()
def index(
    connector: Annotated[str, typer.Argument(help="Name of the connector in the settings.")],
    files: Annotated[list[Path], typer.Argument(help="Posts as JSONL or CSV, gzipped or not.")],
) -> None:
    """Put posts of files into a connector's own index. Exit code 2 says that some were left out."""
    from connectors.protocol import Indexing, SearchFailed
    from connectors.simulated.posts_file import read_posts
    from daemon.wiring import pseudonym_key

    left_out: list[str] = []
    with session.service() as service:
        chosen = service.connectors.get(connector)
        if not isinstance(chosen, Indexing):
            names = [name for name, one in service.connectors.items() if isinstance(one, Indexing)]
            raise BadInput(f"{connector} has no index to fill: choose from {', '.join(names) or 'none set up'}")
        for file in files:
            read = read_posts(file, salt=pseudonym_key(service.settings))
            try:
                refused = list(chosen.add(read.posts))
            except SearchFailed as exc:
                raise BadInput(f"{connector}: {exc}: {file} is not wholly indexed, do it again") from exc
            left_out += [*read.notices, *refused]
            terminal.say(f"{file}: {len(read.posts) - len(refused)} posts indexed")
    for line in left_out:
        typer.echo(line, err=True)
    raise typer.Exit(2 if left_out else 0)


@app.command()
def tick() -> None:
    """One pass: put whatever is due into the queue, then exit."""
    from daemon.jobs import Jobs
    from daemon.wiring import open_postman

    with session.service() as service:
        made = Jobs(service, open_postman(service.settings)).tick()
        searchable = bool(service.connectors)
    terminal.say(f"{made} job{'s' * (made != 1)} queued")
    if not searchable:
        terminal.say("no connector is set up, so no claim is searched: add [connectors.NAME] to claimwatch.toml")


@app.command()
def status(json: JsonFlag = False) -> None:
    """What the service holds and what waits."""
    from daemon.store.overview import overview

    with session.service() as service, service.database.connection() as conn:
        facts = overview(conn, service.clock())
    if json:
        terminal.say_json(facts)
    else:
        terminal.say_facts(facts)


@app.command()
def doctor(json: JsonFlag = False) -> None:
    """Which parts are live, each tried; what to do about those that are not. Exit code 2 if one is broken."""
    from daemon.doctor import examine

    findings = examine(session.settings())
    if json:
        terminal.say_json([{"part": f.part, "state": f.state, "detail": f.detail} for f in findings])
    else:
        terminal.say_table(["part", "state", "detail"], [(f.part, f.state, f.detail) for f in findings])
    raise typer.Exit(2 if any(f.state == "broken" for f in findings) else 0)


@app.command()
def migrate() -> None:
    """Bring the database up to this version."""
    from daemon.database import migrate as apply

    applied = apply(session.settings())
    terminal.say(f"applied: {', '.join(applied)}" if applied else "nothing to do")
