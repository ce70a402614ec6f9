"""Until when a connector is left alone, and why: one request finds out, the others of all workers heed it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from psycopg.rows import class_row, dict_row

from daemon.store.outcomes import Failure, name_of, restored
from daemon.store.statements import statements

_SQL = "connector_states"


@dataclass(frozen=True, slots=True)
class ConnectorState:
    outcome: str
    detail: str
    until: datetime | None
    closed_until: datetime | None
    failures: int  # in a row

    def is_closed(self, now: datetime) -> bool:
        """Whether no request is to be sent."""
        return self.closed_until is not None and self.closed_until > now

    @property
    def failure(self) -> Failure:
        return restored(self.outcome, self.detail, self.until)


def state(conn: psycopg.Connection, connector: str) -> ConnectorState | None:
    """None: nothing is known against it."""
    with conn.cursor(row_factory=class_row(ConnectorState)) as cursor:
        return cursor.execute(statements(_SQL)["state"], {"connector": connector}).fetchone()


def failed(
    conn: psycopg.Connection, connector: str, outcome: Failure, *, closed_until: datetime | None, now: datetime
) -> None:
    values = {
        "connector": connector, "outcome": name_of(outcome), "detail": getattr(outcome, "why", ""),
        "until": getattr(outcome, "until", None), "closed_until": closed_until, "now": now,
    }  # fmt: skip
    conn.execute(statements(_SQL)["failed"], values)


def works(conn: psycopg.Connection, connector: str, *, asked_at: datetime) -> None:
    """It answered a request of that moment, or a person says that it will: searches go out again."""
    conn.execute(statements(_SQL)["works"], {"connector": connector, "asked_at": asked_at})


def all_failing(conn: psycopg.Connection) -> list[dict[str, Any]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statements(_SQL)["all"]).fetchall()
