"""report, and outbox list | resend."""

import datetime
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from daemon.cli import session, terminal
from daemon.cli.subscriptions import subscription_name
from daemon.cli.terminal import JsonFlag
from daemon.service import Service
from daemon.store import mailing
from daemon.store.mailing import FrozenDigest
from domain.errors import BadInput
from reports.reading import open_mail

app = typer.Typer()
outbox_app = typer.Typer(no_args_is_help=True, help="Mails: what was sent, what waits, what failed.")
_FORMS = (".eml", ".html", ".txt")
OutFile = Annotated[Path | None, typer.Option(help="Write it here: .eml the mail, .html the page, .txt the words.")]


@app.command()
def report(
    date: Annotated[str | None, typer.Option(help="Local day of the digest, YYYY-MM-DD; default the newest.")] = None,
    subscription: Annotated[str | None, typer.Option(help="Name of the subscription.")] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="What would go out now, instead of what went out.")
    ] = False,
    out: OutFile = None,
    json: JsonFlag = False,
) -> None:
    """Show a digest: as it was sent, or as it would be sent now."""
    from daemon.digest import preview as preview_digest

    if preview and date:
        raise BadInput("--preview is the digest of now: leave out --date")
    day = session.day(date)
    name = None if subscription is None else subscription_name(subscription)
    _check_ending(out)
    with session.service() as service:
        digest = preview_digest(service, name) if preview else _stored(service, name, day.date() if day else None)
    show_digest(digest, out, json=json)


@outbox_app.command("list")
def show(json: JsonFlag = False, limit: int = typer.Option(50, min=1, max=100_000, help="At most so many.")) -> None:
    """Mails, the newest first."""
    with session.service() as service, service.database.connection() as conn:
        rows = mailing.outbox(conn, limit)
    if json:
        return terminal.say_json([asdict(row) for row in rows])
    if not rows:
        return terminal.say("The outbox is empty: no digest has been mailed yet.")
    columns = ("id", "state", "recipient", "subject", "attempts", "detail", "updated_at")
    terminal.say_table([c.replace("_", " ") for c in columns], [[getattr(row, c) for c in columns] for row in rows])


@outbox_app.command()
def resend(mail: Annotated[int, typer.Argument(help="Number of the mail, as `outbox list` shows it.")]) -> None:
    """Send a mail again. It keeps its Message-ID, so that a mail program can tell it is the same."""
    from daemon.outbox import send_outbox
    from daemon.wiring import open_postman

    with session.service() as service:
        with service.database.connection() as conn:
            if not mailing.resend(conn, mail, service.clock()):
                raise BadInput(f"there is no mail {mail} that could be sent again: `claimwatch outbox list` shows them")
        sent = send_outbox(service, open_postman(service.settings))
    terminal.say(f"{sent} sent")


def show_digest(digest: FrozenDigest, out: Path | None, *, json: bool = False) -> None:
    """Write the digest into a file, or print subject and text; as JSON, its counts and where it was written."""
    _check_ending(out)
    if out:
        _write_whole(out, _content(digest.message, out.suffix))
    if json:
        facts = {name: value for name, value in asdict(digest).items() if name != "message"}
        return terminal.say_json(facts | {"path": out})
    if out:
        return terminal.say(f"written to {out}")
    terminal.say(f"{digest.subject}\n\n{open_mail(digest.message).text}")


def _stored(service: Service, name: str | None, day: datetime.date | None) -> FrozenDigest:
    with service.database.connection() as conn:
        if name and mailing.subscription_by_name(conn, name) is None:
            raise BadInput(f"there is no subscription {name!r}: `claimwatch subscription list` shows them")
        digest = mailing.stored_digest(conn, name, day)
    if digest is None:
        when = f" for {day}" if day else " yet"
        raise BadInput(f"no digest was made{when}: `claimwatch report --preview` shows what would go out now")
    return digest


def _check_ending(out: Path | None) -> None:
    if out and out.suffix not in _FORMS:
        raise BadInput(f"--out {out}: let it end in .eml for the mail, .html for the page or .txt for the words")


def _content(message: bytes, ending: str) -> bytes:
    """What a file of this ending holds."""
    if ending == ".eml":
        return message
    opened = open_mail(message)
    return (opened.page if ending == ".html" else f"{opened.subject}\n\n{opened.text}").encode()


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all. Raises BadInput where it cannot be."""
    partial = path.with_name(f".{path.name}.part")
    try:
        partial.write_bytes(content)
        os.replace(partial, path)
    except OSError as exc:
        with suppress(OSError):
            partial.unlink()
        raise BadInput(f"--out {path}: cannot be written ({exc.strerror}): choose a file in another folder") from exc
