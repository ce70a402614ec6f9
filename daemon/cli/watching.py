"""watch add | list | pause | resume | pin | ban."""

from typing import Annotated

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from daemon.store import fact_checks, watches
from domain.errors import BadInput
from domain.fact_check import DEBUNKED
from domain.text import has_words

app = typer.Typer(no_args_is_help=True, help="What is searched for: add, list, pause, resume, pin a query, ban a word.")
_LONGEST_RULE = 1_000  # characters: no platform takes a longer query whole
Number = Annotated[int, typer.Argument(help="Number of the watch, as `watch list` shows it.")]


@app.command()
def add(fact_check: Annotated[str, typer.Argument(help="Address or key of a fact-check.")]) -> None:
    """Watch a fact-check whatever its rating."""
    from daemon.preparation import first_interval
    from domain.urls import canonical_url

    key = canonical_url(fact_check) or fact_check
    with session.service() as service, service.database.connection() as conn:
        watch = watches.add(conn, key, now=service.clock(), interval=first_interval(service))
        verdict = fact_checks.verdict(conn, key)
    if watch is None:
        raise BadInput(f"there is no fact-check {fact_check}: import it first")
    terminal.say(f"watch {watch} added")
    if verdict not in DEBUNKED:
        terminal.say(f"rated {verdict}: only subscriptions with --verdict {verdict} show it")


@app.command("list")
def show(json: JsonFlag = False, limit: int = typer.Option(50, min=1, max=100_000, help="At most so many.")) -> None:
    """Watches in order of their next search, with the reason for it."""
    with session.service() as service, service.database.connection() as conn:
        rows = watches.listing(conn, limit)
    if json:
        return terminal.say_json(rows)
    columns = ["id", "state", "next_due", "why", "verdict", "matches", "claim"]
    if any(row["rules"] for row in rows):
        columns.append("rules")
    names = ["next due (UTC)" if c == "next_due" else c for c in columns]
    terminal.say_table(names, [[row[c] for c in columns] for row in rows])


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
    if len(word.split()) > 1:
        raise BadInput(f"ban one word at a time, not {word!r}")
    _add_rule(watch, "ban", word)


def _set_state(watch: int, state: str) -> None:
    with session.service() as service, service.database.connection() as conn:
        if not watches.set_state(conn, watch, "paused" if state == "paused" else "active"):
            raise _unknown(watch)
    terminal.say(f"watch {watch} is {state}")


def _add_rule(watch: int, rule: str, words: str) -> None:
    words = session.claim_text(words, "query" if rule == "pin" else "word")
    if not has_words(words):
        raise BadInput(f"{words!r} holds no word to search for: give letters or digits")
    if len(words) > _LONGEST_RULE:
        raise BadInput(f"the {rule} has {len(words):,} characters: give {_LONGEST_RULE:,} at most")
    with session.service() as service, service.database.connection() as conn:
        if not watches.add_rule(conn, watch, "pin" if rule == "pin" else "ban", words):
            raise _unknown(watch)
    terminal.say(f"watch {watch}: {rule} {words}")


def _unknown(watch: int) -> BadInput:
    return BadInput(f"there is no watch {watch}: `claimwatch watch list` shows them")
