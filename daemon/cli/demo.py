"""demo: one full day on posts that ship with claimwatch."""

import shutil
from typing import Annotated

import typer

from daemon.cli import terminal
from daemon.cli.terminal import JsonFlag
from daemon.logs import set_up_logging
from daemon.settings import LogSettings, load_settings
from domain.text import shorten

app = typer.Typer()


@app.command()
def demo(
    again: Annotated[bool, typer.Option("--again", help="Start the day over.")] = False, json: JsonFlag = False
) -> None:
    """Watch one day go by: fact-checks come in, claims are searched, posts matched, the digest lies in the outbox."""
    from daemon.demo import day

    settings = load_settings()
    set_up_logging(LogSettings(level="WARNING", format=settings.log.format))  # the progress bar tells the rest
    if again:
        shutil.rmtree(settings.home / "demo", ignore_errors=True)
    with day.open_demo(settings) as (service, clock), terminal.progress("steps") as bar:
        task = bar.add_task("starting", total=day.ROUNDS + 1)
        result = day.run_day(service, clock, lambda step: bar.update(task, advance=1, description=f"{step:<22}"))
        bar.update(task, description="the day is over")
    if json:
        return terminal.say_json(
            {"mail": result.mail, "subject": result.subject, "claims": len(result.rows), "posts": result.posts}
        )
    terminal.say_table(
        ["posts", "rated", "claim"], [(n, rating, shorten(claim, 90)) for claim, rating, n in result.rows]
    )
    terminal.say(f"“{result.subject}”")
    terminal.say(f"{len(result.rows)} claims, {result.posts} posts. The digest: {result.mail}")
