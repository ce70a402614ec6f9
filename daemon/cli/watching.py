"""watch add | list | pause | resume | pin | ban."""

from typing import Annotated

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from daemon.store import watches
from domain.errors import BadInput

app = typer.Typer(no_args_is_help=True, help="What is searched for: add, list, pause, resume, pin a query, ban a word.")
Number = Annotated[int, typer.Argument(help="Number of the watch, as `watch list` shows it.")]


@app.command()
def add(fact_check: Annotated[str, typer.Argument(help="Address or key of a fact-check.")]) -> None:
    """Watch a fact-check whatever its rating."""
    from daemon.preparation import first_interval
    from domain.urls import canonical_url

    key = canonical_url(fact_check) or fact_check
    with session.service() as service, service.database.connection() as conn:
        watch = watches.add(conn, key, now=service.clock(), interval=first_interval(service))
    if watch is None:
        raise BadInput(f"there is no fact-check {fact_check}: import it first")
    terminal.say(f"watch {watch} added")


@app.command("list")
def show(json: JsonFlag = False, limit: int = typer.Option(50, help="At most so many.")) -> None:
    """Watches in order of their next search, with the reason for it."""
    with session.service() as service, service.database.connection() as conn:
        rows = watches.listing(conn, limit)
    if json:
        return terminal.say_json(rows)
    columns = ("id", "state", "next_due", "why", "verdict", "matches", "claim", "rules")
    terminal.say_table([c.replace("_", " ") for c in columns], [[row[c] for c in columns] for row in rows])


@app.command()
def pause(watch: Number) -> None:
    """Stop searching for a claim; what was found stays."""
    _set_state(watch, "paused")


@app.command()
def resume(watch: Number) -> None:
    """Search for a paused claim again."""
    _set_state(watch, "active")


@app.command()
def pin(watch: Number, query: Annotated[str, typer.Argument(help="Words of the query.")]) -> None:
    """Always run this query for a claim, besides the policy's."""
    _add_rule(watch, "pin", query)


@app.command()
def ban(watch: Number, word: Annotated[str, typer.Argument(help="The word.")]) -> None:
    """Never search for a claim by this word."""
    if len(word.split()) != 1:
        raise BadInput(f"ban one word at a time, not {word!r}")
    _add_rule(watch, "ban", word)


def _set_state(watch: int, state: str) -> None:
    with session.service() as service, service.database.connection() as conn:
        if not watches.set_state(conn, watch, "paused" if state == "paused" else "active"):
            raise _unknown(watch)
    terminal.say(f"watch {watch} is {state}")


def _add_rule(watch: int, rule: str, words: str) -> None:
    words = session.claim_text(words)
    with session.service() as service, service.database.connection() as conn:
        if not watches.add_rule(conn, watch, "pin" if rule == "pin" else "ban", words):
            raise _unknown(watch)
    terminal.say(f"watch {watch}: {rule} {words}")


def _unknown(watch: int) -> BadInput:
    return BadInput(f"there is no watch {watch}: `claimwatch watch list` shows them")
