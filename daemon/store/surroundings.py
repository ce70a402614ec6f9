"""What the database itself and the job queue in it say of their state."""

from dataclasses import dataclass
from datetime import timedelta

import psycopg

from daemon.store.statements import statements

_SQL = "surroundings"
_TICK_LOCK = 7_316_002


@dataclass(frozen=True, slots=True)
class QueueState:
    workers: int  # heard of lately
    waiting: int
    failed: int


def database_version(conn: psycopg.Connection) -> tuple[str, str] | None:
    """Versions of Postgres and pgvector; None: there is no vector extension."""
    return conn.execute(statements(_SQL)["database"]).fetchone()


def queue_state(conn: psycopg.Connection, *, alive_within: timedelta) -> QueueState:
    row = conn.execute(statements(_SQL)["queue"], {"age": alive_within}).fetchone()
    assert row is not None
    return QueueState(*row)


def job_counts(conn: psycopg.Connection) -> dict[str, int]:
    return dict(conn.execute(statements(_SQL)["jobs"]).fetchall())


def may_tick(conn: psycopg.Connection) -> bool:
    """Whether no other daemon ticks at this moment; none may until the transaction ends."""
    return conn.execute(statements(_SQL)["try_tick_lock"], {"lock": _TICK_LOCK}).fetchone() == (True,)
