"""Budgets: what a request may cost is reserved before it leaves, and what it did cost settled after it.

Caps hold for a connector or for each claim, a UTC day or month, in posts or in micro-dollars. A worker that dies
between the two leaves its reservation counted as spent: too much is never spent, a little may be left unused.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import psycopg
from psycopg.rows import dict_row, namedtuple_row

from connectors.protocol import Connector, Limits, Prices
from daemon.store.posts import mark
from daemon.store.statements import statements
from domain.outcome import BudgetUsedUp

_SQL = "spending"
_ALL_CLAIMS = 0

Scope = Literal["connector", "claim"]
Period = Literal["day", "month"]
Unit = Literal["posts", "micro_dollars"]


@dataclass(frozen=True, slots=True)
class Reservation:
    """Room for one request: at most so many posts, and what they and the request would cost."""

    connector: str
    watch: int
    at: datetime
    posts: int
    micro_dollars: int


def reserve(
    conn: psycopg.Connection, connector: str, watch: int, limits: Limits, prices: Prices, *, now: datetime
) -> Reservation | BudgetUsedUp:
    """Room for the next page: a whole one, or what is left if that is no less than the smallest page."""
    posts, used_up = limits.page_size, None
    wanted = Reservation(connector, watch, now, 0, 0)
    if not posts and not prices.request:
        return wanted  # a free request needs no room
    # All rows are locked in one order before any is looked at, so that two workers never wait for each other.
    spent = {place: _lock(conn, key) for place, key in _rows(wanted).items()}
    for scope, period, unit, cap in conn.execute(statements(_SQL)["caps"], {"connector": connector}).fetchall():
        left = cap - getattr(spent[scope, period], unit)
        room = left if unit == "posts" else _affordable(left, prices, limits)
        if room < limits.smallest_page:
            ends = next_period(period, now)
            used_up = BudgetUsedUp(max(ends, used_up.until or ends) if used_up else ends)
        posts = min(posts, room)
    if used_up:
        return used_up
    reservation = replace(wanted, posts=posts, micro_dollars=prices.request + posts * prices.post)
    _add(conn, reservation, reservation.posts, reservation.micro_dollars)
    return reservation


def settle(conn: psycopg.Connection, reservation: Reservation, returned: Sequence[str], prices: Prices) -> int:
    """Replace what was reserved by what the page cost, in micro-dollars; part of the transaction that stores it.

    `returned` are the platform's ids of all posts that came, also of those that are not kept.
    """
    day = _starts("day", reservation.at)
    values = [{"connector": reservation.connector, "day": day, "mark": one} for one in sorted(set(map(mark, returned)))]
    charged = sum(conn.execute(statements(_SQL)["charge_post"], value).fetchone() is not None for value in values)
    cost = prices.request + charged * prices.post
    _add(conn, reservation, charged - reservation.posts, cost - reservation.micro_dollars)
    return cost


def release(conn: psycopg.Connection, reservation: Reservation) -> None:
    """The request failed, which costs nothing."""
    _add(conn, reservation, -reservation.posts, -reservation.micro_dollars)


def set_cap(
    conn: psycopg.Connection, connector: str, scope: Scope, period: Period, unit: Unit, cap: int | None
) -> None:
    """Set a cap, or (None) lift it."""
    key = {"connector": connector, "scope": scope, "period": period, "unit": unit}
    conn.execute(statements(_SQL)["remove_cap" if cap is None else "set_cap"], key | {"cap": cap})


def overview(conn: psycopg.Connection, *, now: datetime) -> list[dict[str, Any]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statements(_SQL)["overview"], {"now": now}).fetchall()


def allowed(conn: psycopg.Connection, connector: Connector, *, now: datetime) -> str:
    """What the caps of all claims together still allow, in words."""
    own = [row for row in overview(conn, now=now) if row["connector"] == connector.name and row["scope"] == "connector"]
    if not own:
        return "no cap is set"
    left = [
        f"{row['cap'] - row['spent']:,} posts"
        if row["unit"] == "posts"
        else f"${(row['cap'] - row['spent']) / 1e6:,.2f}"
        for row in own
    ]
    return "; ".join(f"{amount} left this {row['period']}" for amount, row in zip(left, own, strict=True))


def forget_charges(conn: psycopg.Connection, *, now: datetime) -> None:
    """Days that are over need no list of what was charged."""
    conn.execute(statements(_SQL)["forget_charges"], {"before": _starts("day", now) - timedelta(days=1)})


def next_period(period: Period, now: datetime) -> datetime:
    """When a period that holds `now` is over."""
    begun = datetime.combine(_starts(period, now), datetime.min.time(), UTC)
    return begun + timedelta(days=1) if period == "day" else (begun + timedelta(days=31)).replace(day=1)


def _affordable(left: int, prices: Prices, limits: Limits) -> int:
    """How many posts a sum pays for, besides the request."""
    if left < prices.request:
        return -1
    return (left - prices.request) // prices.post if prices.post else limits.page_size


def _lock(conn: psycopg.Connection, key: dict[str, Any]) -> Any:
    with conn.cursor(row_factory=namedtuple_row) as cursor:
        return cursor.execute(statements(_SQL)["lock"], key).fetchone()


def _add(conn: psycopg.Connection, reservation: Reservation, posts: int, micro_dollars: int) -> None:
    for key in _rows(reservation).values():
        conn.execute(statements(_SQL)["add"], key | {"posts": posts, "micro_dollars": micro_dollars})


def _rows(reservation: Reservation) -> dict[tuple[Scope, Period], dict[str, Any]]:
    """The four rows that a request is counted in."""
    places: list[tuple[Scope, Period]] = [
        ("claim", "day"), ("claim", "month"), ("connector", "day"), ("connector", "month"),
    ]  # fmt: skip
    return {
        (scope, period): {
            "connector": reservation.connector, "watch_id": reservation.watch if scope == "claim" else _ALL_CLAIMS,
            "period": period, "starts": _starts(period, reservation.at),
        }
        for scope, period in places
    }  # fmt: skip


def _starts(period: Period, moment: datetime) -> date:
    day = moment.astimezone(UTC).date()
    return day if period == "day" else day.replace(day=1)
