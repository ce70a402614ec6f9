"""The command line. Exit code 0: done; 2: something a person must look at, said in one line.

130 and 143: interrupted by SIGINT, SIGTERM; 141: whoever read the answer has gone.
"""

import logging
import os
import signal
import sys
from collections.abc import Sequence

import typer

from daemon.cli import (
    ask,
    budget,
    demo,
    exploring,
    forgetting,
    intake,
    mail,
    models,
    quarantine,
    running,
    session,
    subscriptions,
    terminal,
    watching,
)
from domain.errors import BadInput, ClaimwatchError
from domain.text import shorten

app = typer.Typer(
    name="claimwatch",
    help="Finds where a debunked claim is still spreading.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for part in (demo, running, intake, ask, mail, models, forgetting, exploring):
    app.registered_commands.extend(part.app.registered_commands)
app.add_typer(watching.app, name="watch")
app.add_typer(subscriptions.app, name="subscription")
app.add_typer(budget.app, name="budget")
app.add_typer(mail.outbox_app, name="outbox")
app.add_typer(quarantine.app, name="quarantine")
app.add_typer(models.eval_app, name="eval")
app.add_typer(models.retrain_app, name="retrain")


@app.callback()
def begin(context: typer.Context) -> None:
    session.begin(context.invoked_subcommand)


def main() -> None:
    """Entry point of the console script."""
    received = _listen()
    code = _answer()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # what is left is to stop the embedded database
    if received:
        _complain("interrupted")
        code = 128 + received[0]
    sys.exit(code)


def _listen() -> list[int]:
    """Make SIGTERM end a command as SIGINT does: by an exception that closes what is open; the signals that came.

    `run` and `worker` set up their own handlers, which let the job in hand finish.
    """
    received: list[int] = []

    def stop(number: int, _: object) -> None:
        received.append(number)
        logging.disable()  # the libraries warn of what is broken off
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, stop)
    return received


def _answer() -> int | str | None:
    """Do what the command line asks; the exit code."""
    try:
        terminal.open_output()
        try:
            _check_arguments(sys.argv[1:])
            app()
        finally:
            sys.stdout.flush()
    except ClaimwatchError as exc:
        _complain(str(exc))
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except SystemExit as exc:
        return exc.code
    return 0


def _check_arguments(arguments: Sequence[str]) -> None:
    """Raises BadInput for bytes that are no text, unless they are the name of a file."""
    for number, argument in enumerate(arguments, 1):
        if any("\ud800" <= letter <= "\udfff" for letter in argument) and not os.path.lexists(argument):
            shown = shorten(argument.encode(errors="replace").decode(), 60)
            raise BadInput(f"argument {number}, {shown!r}, is no UTF-8: write it in UTF-8")


def _complain(text: str) -> None:
    if sys.stderr:
        sys.stderr.write(f"claimwatch: {text}\n")
