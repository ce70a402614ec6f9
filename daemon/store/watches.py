"""What is watched, when it is due, and what people pinned or banned."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import psycopg
from psycopg.rows import class_row, dict_row, scalar_row

from daemon.store.statements import statements
from domain.fact_check import Claim
from domain.ids import FactCheckId, WatchId

_SQL = "watches"
_MOST_ATTEMPTS = 6  # of a run, before the watch goes on to its next one


@dataclass(frozen=True, slots=True)
class DueWatch:
    """A watch whose search has begun; posts up to `run_until` are looked for, also after a restart."""

    id: WatchId
    run_until: datetime
    interval_s: int
    failures: int
    fact_check_id: FactCheckId
    key: str
    claim: str
    language: str

    @property
    def is_last_attempt(self) -> bool:
        """Whether what fails now waits for the next run."""
        return self.failures >= _MOST_ATTEMPTS

    @property
    def as_claim(self) -> Claim:
        return Claim(self.fact_check_id, self.claim, self.language)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a connector has come: everything before `searched_to` has been searched (None: nothing yet), and the
    window that ends at `open_until` is being searched (None: none is)."""

    searched_to: datetime | None = None
    open_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class WordRules:
    """Queries a person pinned, and words a person banned (lower case)."""

    pinned: tuple[str, ...]
    banned: frozenset[str]


def watch_wanted(
    conn: psycopg.Connection, ids: Sequence[int] | None, verdicts: Sequence[str], *, now: datetime, interval: timedelta
) -> int:
    """Watch those of the fact-checks (None: all) whose verdict is wanted, and pause those that no longer are."""
    values = {
        "now": now,
        "interval_s": int(interval.total_seconds()),
        "verdicts": list(verdicts),
        "ids": list(ids or []),
    }
    if ids is None:
        return len(conn.execute(statements(_SQL)["watch_all_wanted"], values).fetchall())
    conn.execute(statements(_SQL)["pause_unwanted"], values)
    return len(conn.execute(statements(_SQL)["watch_wanted"], values).fetchall())


def add(conn: psycopg.Connection, key: str, *, now: datetime, interval: timedelta) -> int | None:
    """Watch one fact-check by its key; None if there is none."""
    values = {"key": key, "now": now, "interval_s": int(interval.total_seconds())}
    return _scalar(conn, "add", values)


def listing(conn: psycopg.Connection, limit: int) -> list[dict[str, Any]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statements(_SQL)["list"], {"limit": limit}).fetchall()


def set_state(conn: psycopg.Connection, watch: int, state: Literal["active", "paused"]) -> bool:
    return _scalar(conn, "set_state", {"id": watch, "state": state}) is not None


def add_rule(conn: psycopg.Connection, watch: int, rule: Literal["pin", "ban"], words: str) -> bool:
    return _scalar(conn, "add_rule", {"id": watch, "rule": rule, "words": words}) is not None


def rules(conn: psycopg.Connection, watch: WatchId) -> WordRules:
    rows = conn.execute(statements(_SQL)["rules"], {"id": watch}).fetchall()
    pinned = tuple(words for rule, words in rows if rule == "pin")
    return WordRules(pinned, frozenset(words.lower() for rule, words in rows if rule == "ban"))


def due(conn: psycopg.Connection, *, now: datetime, limit: int) -> list[WatchId]:
    """Due watches that no job is at work on; their rows stay locked until the transaction ends."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(statements(_SQL)["due"], {"now": now, "limit": limit}).fetchall()


def begin(conn: psycopg.Connection, watch: int, *, now: datetime) -> DueWatch | None:
    with conn.cursor(row_factory=class_row(DueWatch)) as cursor:
        return cursor.execute(statements(_SQL)["begin"], {"id": watch, "now": now}).fetchone()


def finish(conn: psycopg.Connection, watch: WatchId, *, next_due: datetime, interval: timedelta, why: str) -> None:
    """The run is over; set when the watch is due again."""
    values = {"id": watch, "next_due": next_due, "interval_s": int(interval.total_seconds()), "why": why}
    conn.execute(statements(_SQL)["finish"], values)


def postpone(conn: psycopg.Connection, watch: int, *, next_due: datetime) -> None:
    """The run is not over: it goes on at `next_due` with what it could not do."""
    conn.execute(statements(_SQL)["postpone"], {"id": watch, "next_due": next_due})


def failures(conn: psycopg.Connection, watch: int) -> int:
    """How often the present run has been postponed."""
    return _scalar(conn, "failures", {"id": watch}) or 0


def progress(conn: psycopg.Connection, watch: WatchId, connector: str) -> Progress:
    with conn.cursor(row_factory=class_row(Progress)) as cursor:
        found = cursor.execute(statements(_SQL)["progress"], {"id": watch, "connector": connector}).fetchone()
    return found or Progress()


def open_window(conn: psycopg.Connection, watch: WatchId, connector: str, until: datetime) -> None:
    """Note that the window up to a moment is being searched: it is gone on with before any other."""
    conn.execute(statements(_SQL)["open_window"], {"id": watch, "connector": connector, "until": until})


def give_up(conn: psycopg.Connection, watch: WatchId, connector: str) -> None:
    """The next run begins anew where the open window began."""
    conn.execute(statements(_SQL)["give_up"], {"id": watch, "connector": connector})


def advance(conn: psycopg.Connection, watch: WatchId, connector: str, moment: datetime) -> None:
    conn.execute(statements(_SQL)["advance"], {"id": watch, "connector": connector, "searched_to": moment})


def counts(conn: psycopg.Connection, now: datetime) -> dict[str, int]:
    with conn.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(statements(_SQL)["counts"], {"now": now}).fetchone()
    assert row is not None
    return row


def _scalar(conn: psycopg.Connection, name: str, values: dict[str, object]) -> int | None:
    with conn.cursor(row_factory=scalar_row) as cursor:
        found: int | None = cursor.execute(statements(_SQL)[name], values).fetchone()
        return found
