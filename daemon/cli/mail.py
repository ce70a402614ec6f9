"""report, and outbox list | resend."""

from pathlib import Path
from typing import Annotated

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from daemon.store import mailing
from domain.errors import BadInput
from reports.digest import RenderedDigest, standalone_html

app = typer.Typer()
outbox_app = typer.Typer(no_args_is_help=True, help="Mails: what was sent, what waits, what failed.")


@app.command()
def report(
    date: Annotated[str | None, typer.Option(help="Local day of the digest, YYYY-MM-DD; default the newest.")] = None,
    subscription: Annotated[str | None, typer.Option(help="Name of the subscription.")] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="What would go out now, instead of what went out.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the mail here: .eml, or .html with --preview.")] = None,
) -> None:
    """Show a digest: as it was sent, or as it would be sent now."""
    from daemon.digest import preview as preview_digest

    day = session.day(date)
    with session.service() as service:
        if preview:
            rendered = preview_digest(service, subscription)
        else:
            with service.database.connection() as conn:
                message = mailing.stored_message(conn, subscription, day.date() if day else None)
    if preview:
        return show_digest(rendered, out)
    if message is None:
        raise BadInput("there is no such digest: `claimwatch report --preview` shows what would go out now")
    _show_message(message, out)


@outbox_app.command("list")
def show(json: JsonFlag = False, limit: int = typer.Option(50, help="At most so many.")) -> None:
    """Mails, the newest first."""
    with session.service() as service, service.database.connection() as conn:
        rows = mailing.rows(conn, "outbox", {"limit": limit})
    if json:
        return terminal.say_json(rows)
    columns = ("id", "state", "recipient", "subject", "attempts", "detail", "updated_at")
    terminal.say_table([c.replace("_", " ") for c in columns], [[row[c] for c in columns] for row in rows])


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


def show_digest(rendered: RenderedDigest, out: Path | None) -> None:
    """Write the page, or print subject and text."""
    if out:
        out.write_text(standalone_html(rendered), "utf-8")
        terminal.say(f"written to {out}")
    else:
        terminal.say(rendered.subject)
        terminal.say("")
        terminal.say(rendered.text)


def _show_message(message: bytes, out: Path | None) -> None:
    from email import message_from_bytes, policy

    if out:
        out.write_bytes(message)
        return terminal.say(f"written to {out}")
    parsed = message_from_bytes(message, policy=policy.default)
    body = parsed.get_body(("plain",))
    terminal.say(str(parsed["subject"]))
    terminal.say("")
    terminal.say(body.get_content() if body else "")
