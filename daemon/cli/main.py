"""The command line. Exit code 0: done; 2: something a person must look at, said in one line."""

import sys

import typer

from daemon.cli import ask, budget, demo, forgetting, intake, mail, models, running, subscriptions, watching
from domain.errors import ClaimwatchError

app = typer.Typer(
    name="claimwatch",
    help="Finds where a debunked claim is still spreading.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for part in (demo, running, intake, ask, mail, models, forgetting):
    app.registered_commands.extend(part.app.registered_commands)
app.add_typer(watching.app, name="watch")
app.add_typer(subscriptions.app, name="subscription")
app.add_typer(budget.app, name="budget")
app.add_typer(mail.outbox_app, name="outbox")
app.add_typer(models.eval_app, name="eval")
app.add_typer(models.retrain_app, name="retrain")


def main() -> None:
    """Entry point of the console script."""
    try:
        app()
    except ClaimwatchError as exc:
        sys.stderr.write(f"claimwatch: {exc}\n")
        sys.exit(2)
