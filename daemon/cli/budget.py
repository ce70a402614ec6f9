"""budget show | set: what may be spent on each connector."""

from math import isfinite
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from daemon.cli import session, terminal
from daemon.cli.terminal import JsonFlag
from domain.errors import BadInput

if TYPE_CHECKING:
    from connectors.protocol import Connector
    from daemon.store.spending import Unit

app = typer.Typer(no_args_is_help=True, help="What may be spent on a connector: show, set.")
_MICRO = 1_000_000


@app.command()
def show(json: JsonFlag = False) -> None:
    """Every cap, what the present day or month has spent of it, and connectors that are left alone for now."""
    from daemon.store import connector_states, spending

    with session.service() as service, service.database.connection() as conn:
        rows = spending.overview(conn, now=service.clock())
        failing = connector_states.all_failing(conn)
    if json:
        return terminal.say_json({"budgets": rows, "failing": failing})
    if not rows:
        terminal.say("no cap is set: searches may cost what they cost; set one with `claimwatch budget set`")
    else:
        terminal.say_table(["connector", "for", "a", "spent", "cap"], [_row(row) for row in rows])
    for state in failing:
        until = f" until {state['closed_until']:%Y-%m-%d %H:%M} UTC" if state["closed_until"] else ""
        detail = f": {state['detail']}" if state["detail"] else ""
        terminal.say(f"{state['connector']}: {state['outcome'].replace('_', ' ')}{detail}{until}")


@app.command("set")
def set_cap(
    connector: Annotated[str, typer.Argument(help="Name of the connector in the settings.")],
    dollars: Annotated[float | None, typer.Option(min=0, max=1e9, help="At most so much money.")] = None,
    posts: Annotated[int | None, typer.Option(min=0, max=10**12, help="At most so many posts read.")] = None,
    each: Annotated[
        Literal["connector", "claim"], typer.Option(help="For all claims together, or for each.")
    ] = "connector",
    a: Annotated[Literal["day", "month"], typer.Option("--a", help="UTC day or month.")] = "month",
    none: Annotated[bool, typer.Option("--none", help="Lift the caps, of money and of posts.")] = False,
) -> None:
    """Set a cap. A connector that was left alone for want of budget is tried again."""
    from daemon.store import connector_states, spending

    caps = _caps(dollars, posts, none)
    with session.service() as service:
        if connector not in service.settings.connectors:
            known = ", ".join(service.settings.connectors) or "none is set up"
            raise BadInput(f"there is no connector {connector!r} in the settings ({known})")
        with service.database.connection() as conn:
            for unit, cap in caps.items():
                spending.set_cap(conn, connector, each, a, unit, cap)
            connector_states.works(conn, connector, asked_at=service.clock())
        too_small = [unit for unit, cap in caps.items() if cap and cap < _cheapest(service.connectors[connector], unit)]
    said = [f"at most {_amount(unit, cap)}" for unit, cap in caps.items() if cap is not None] or ["no cap"]
    terminal.say(f"{connector}: {said[0]} a {a}" + (" for each claim" if each == "claim" else ""))
    if too_small:
        typer.echo(f"{connector}: one page is more than that, so it will not be searched: set a higher cap", err=True)


def _cheapest(connector: "Connector", unit: "Unit") -> int:
    """What the smallest page takes of a cap."""
    posts = connector.limits.smallest_page
    return posts if unit == "posts" else connector.prices.request + posts * connector.prices.post


def _caps(dollars: float | None, posts: int | None, none: bool) -> "dict[Unit, int | None]":
    """The caps to be set, None to be lifted, by unit."""
    if none and dollars is None and posts is None:
        return {"posts": None, "micro_dollars": None}
    if none or (dollars is None) == (posts is None):
        raise BadInput("give one of --dollars, --posts and --none: a cap is of money or of posts, or there is none")
    if dollars is None:
        return {"posts": posts}
    if not isfinite(dollars):
        raise BadInput(f"--dollars {dollars}: give a number")
    return {"micro_dollars": round(dollars * _MICRO)}


def _row(row: dict[str, object]) -> tuple[object, ...]:
    unit = str(row["unit"])
    whom = "each claim (most spent)" if row["scope"] == "claim" else "all"
    spent, cap = (int(str(row[name])) for name in ("spent", "cap"))
    return row["connector"], whom, row["period"], _amount(unit, spent), _amount(unit, cap)


def _amount(unit: str, number: int) -> str:
    return f"{number:,} posts" if unit == "posts" else f"${number / _MICRO:,.2f}"
