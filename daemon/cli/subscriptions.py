"""subscription add | list | pause | resume | preview."""

from datetime import datetime, time
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from daemon.store import mailing
from domain.errors import BadInput
from domain.fact_check import DEBUNKED, Verdict
from domain.text import one_line

app = typer.Typer(no_args_is_help=True, help="Who gets which digest, and when.")
_COLUMNS = ("name", "recipients", "verdicts", "languages", "local_time", "zone", "state", "next_due")
_LONGEST_NAME = 200  # characters: it stands in the subject and in file names
Name = Annotated[str, typer.Argument(help="Name of the subscription.")]


@app.command()
def add(
    name: Name,
    to: Annotated[list[str], typer.Option(help="Recipient; may be given several times.")],
    at: Annotated[str, typer.Option(help="Local time, HH:MM.")] = "08:00",
    zone: Annotated[str, typer.Option(help="IANA time zone, as Europe/Madrid.")] = "UTC",
    verdict: Annotated[list[str] | None, typer.Option(help="Ratings wanted; default false and misleading.")] = None,
    language: Annotated[list[str] | None, typer.Option(help="Only fact-checks in these languages.")] = None,
    publisher: Annotated[list[str] | None, typer.Option(help="Only fact-checks of these publishers.")] = None,
    min_confidence: Annotated[float, typer.Option(min=0, max=1, help="Leave out less certain matches.")] = 0.5,
    empty_days: Annotated[bool, typer.Option(help="Mail also when nothing is new.")] = False,
) -> None:
    """Add a subscription: a daily mail at a local time."""
    from daemon.preparation import first_interval, wanted_verdicts
    from daemon.schedule import next_local_time
    from daemon.store import watches
    from reports.mail import mail_address

    name, local_time = subscription_name(name), _local_time(at)
    with session.service() as service, service.database.connection() as conn:
        now = service.clock()
        next_due = next_local_time(now, local_time, _zone(zone))
        values = {
            "name": name, "recipients": list(dict.fromkeys(mail_address(r, "a recipient") for r in to)),
            "verdicts": _verdicts(verdict), "languages": [session.language(code) for code in language or []],
            "publishers": _publishers(publisher or []), "min_confidence": min_confidence,
            "local_time": local_time, "zone": zone, "empty_days": "send" if empty_days else "skip",
            "next_due": next_due, "now": now,
        }  # fmt: skip
        if mailing.add_subscription(conn, values) is None:
            raise BadInput(f"there is a subscription {name!r} already: choose another name")
        watched = watches.watch_wanted(conn, None, wanted_verdicts(conn), now=now, interval=first_interval(service))
    more = f"; {watched} more claims are watched for it" if watched else ""
    terminal.say(f"subscription {name} added, next mail {next_due:%Y-%m-%d %H:%M} UTC{more}")


@app.command("list")
def show(json: JsonFlag = False) -> None:
    """All subscriptions."""
    with session.service() as service, service.database.connection() as conn:
        found = mailing.subscriptions(conn)
    rows = [{c: getattr(s, c) for c in _COLUMNS} | {"local_time": f"{s.local_time:%H:%M}"} for s in found]
    if json:
        return terminal.say_json(rows)
    if not rows:
        return terminal.say("There is no subscription: `claimwatch subscription add` makes one.")
    terminal.say_table([c.replace("_", " ") for c in _COLUMNS], [list(row.values()) for row in rows])


@app.command()
def pause(name: Name) -> None:
    """Send nothing until resumed; what is found meanwhile comes with the next digest."""
    _set_state(name, "paused")


@app.command()
def resume(name: Name) -> None:
    """Send again."""
    _set_state(name, "active")


@app.command()
def preview(
    name: Name,
    out: Annotated[
        Path | None, typer.Option(help="Write it here: .eml the mail, .html the page, .txt the words.")
    ] = None,
) -> None:
    """The digest as it would go out now. Nothing is sent or marked as sent."""
    from daemon.cli.mail import show_digest
    from daemon.digest import preview as preview_digest

    with session.service() as service:
        digest = preview_digest(service, subscription_name(name))
    show_digest(digest, out)


def subscription_name(text: str) -> str:
    """The name on one line, as it is stored. Raises BadInput for one that is empty or too long."""
    name = one_line(text)
    if not 0 < len(name) <= _LONGEST_NAME:
        raise BadInput(f"subscription name {name[:40]!r}: give 1 to {_LONGEST_NAME} characters")
    return name


def _set_state(name: str, state: str) -> None:
    name = subscription_name(name)
    with session.service() as service, service.database.connection() as conn:
        if not mailing.set_subscription_state(conn, name, "paused" if state == "paused" else "active"):
            raise BadInput(f"there is no subscription {name!r}: `claimwatch subscription list` shows them")
    terminal.say(f"subscription {name} is {state}")


def _local_time(text: str) -> time:
    try:
        return datetime.strptime(text, "%H:%M").time()  # noqa: DTZ007  (a time of day, no moment)
    except ValueError as exc:
        raise BadInput(f"--at {text}: write it as HH:MM, as 08:00") from exc


def _zone(name: str) -> str:
    if name not in available_timezones():
        raise BadInput(f"--zone {name}: no IANA time zone; write it as Europe/Madrid or UTC")
    return ZoneInfo(name).key


def _verdicts(given: list[str] | None) -> list[str]:
    known = {verdict.value for verdict in Verdict}
    if unknown := sorted(set(given or []) - known):
        raise BadInput(f"--verdict {unknown[0]}: choose from {', '.join(sorted(known))}")
    return sorted(given or DEBUNKED)


def _publishers(given: list[str]) -> list[str]:
    names = [one_line(name) for name in given]
    if "" in names:
        raise BadInput("--publisher '': give the publisher's name, or leave it out for all of them")
    return names
