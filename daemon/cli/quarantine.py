"""quarantine list: the records that could not be used, each with what was wrong."""

from dataclasses import asdict

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from daemon.store import fact_checks

app = typer.Typer(no_args_is_help=True, help="Records that could not be used, and why.")


@app.command("list")
def show(json: JsonFlag = False, limit: int = typer.Option(50, min=1, max=100_000, help="At most so many.")) -> None:
    """Records kept aside, the newest first; with --json also as they came."""
    with session.service() as service, service.database.connection() as conn:
        rows = fact_checks.kept_aside(conn, limit)
    if json:
        return terminal.say_json([asdict(row) for row in rows])
    if not rows:
        return terminal.say("The quarantine is empty: every record could be used.")
    cells = [(row.created_at, row.source, row.row, row.field, row.reason) for row in rows]
    terminal.say_table(["kept at", "source", "row", "field", "reason"], cells)
