"""Applies the numbered SQL steps, each recorded with its hash, all in one transaction.

The job queue's tables come from its own library (procrastinate), in the same transaction.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources

import psycopg
from psycopg import sql

from domain.errors import DatabaseUnavailable, SchemaMismatch

_LOCK = 7_316_001  # two processes that start at once migrate one after the other


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def steps() -> list[Step]:
    """All steps this version knows, in order."""
    return sorted(_read_steps(), key=lambda step: step.number)


def _read_steps() -> Iterator[Step]:
    for file in (resources.files("migrations") / "steps").iterdir():
        if found := re.fullmatch(r"(\d{4})_(\w+)\.sql", file.name):
            yield Step(int(found[1]), found[2], file.read_text("utf-8"))


def migrate(conn: psycopg.Connection) -> list[str]:
    """Bring the database up to this version; the names of the steps applied. Raises SchemaMismatch if it is newer."""
    with conn.transaction():
        conn.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        conn.execute(
            "CREATE TABLE IF NOT EXISTS schema_steps (number integer PRIMARY KEY, name text NOT NULL,"
            " sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        missing = _missing(conn)
        for step in missing:
            _apply(conn, step)
        if conn.execute("SELECT to_regclass('procrastinate_jobs')").fetchone() == (None,):
            from procrastinate.schema import SchemaManager  # not for every command: it is seldom needed

            # As one client-side statement: the queue's schema holds percent signs that are no placeholders.
            conn.execute(sql.SQL(SchemaManager.get_schema()))
            return [*(step.name for step in missing), "job_queue"]
    return [step.name for step in missing]


def _apply(conn: psycopg.Connection, step: Step) -> None:
    try:
        conn.execute(sql.SQL(step.text))
    except (
        psycopg.errors.FeatureNotSupported,
        psycopg.errors.UndefinedFile,
        psycopg.errors.InsufficientPrivilege,
    ) as exc:
        raise DatabaseUnavailable(
            f"migration {step.number:04}_{step.name} was refused ({str(exc).splitlines()[0]}): the server needs the "
            "pgvector extension (package postgresql-NN-pgvector) and a role that may create it"
        ) from exc
    conn.execute(
        "INSERT INTO schema_steps (number, name, sha256) VALUES (%s, %s, %s)", [step.number, step.name, step.sha256]
    )


def check(conn: psycopg.Connection) -> None:
    """Raises SchemaMismatch, with the remedy, unless the database is exactly at this version."""
    if conn.execute("SELECT to_regclass('schema_steps')").fetchone() == (None,):
        raise SchemaMismatch("the database is empty: run `claimwatch migrate`")
    if missing := _missing(conn):
        raise SchemaMismatch(
            f"the database lacks {len(missing)} migration(s), first {missing[0].name}: run `claimwatch migrate`"
        )


def _missing(conn: psycopg.Connection) -> list[Step]:
    applied = {n: (name, sha) for n, name, sha in conn.execute("SELECT number, name, sha256 FROM schema_steps")}
    known = {step.number: step for step in steps()}
    if newer := sorted(set(applied) - set(known)):
        raise SchemaMismatch(
            f"the database is newer than this claimwatch (step {newer[-1]}, known up to {max(known)}): "
            "install the newer version"
        )
    for number, (name, sha) in applied.items():
        if known[number].sha256 != sha:
            raise SchemaMismatch(f"migration {number:04}_{name} was applied in another wording: restore its file")
    return [step for number, step in sorted(known.items()) if number not in applied]
