"""Fact-checks and what could not become one."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from psycopg.rows import class_row, dict_row, scalar_row

from daemon.intake.record import FactCheckRecord, Rejected
from daemon.store.statements import statements
from domain.fact_check import FactCheck, Verdict
from domain.ids import FactCheckId

_SQL = "fact_checks"


@dataclass(frozen=True, slots=True)
class Upserted:
    added: int
    changed: int
    unchanged: int


@dataclass(frozen=True, slots=True)
class UnpreparedRow:
    """A row as whoever wrote it left it."""

    id: int
    key: str | None
    url: str | None
    claim: str
    title: str
    body: str
    publisher: str
    author: str
    language: str
    rating_given: str
    rating_value: str | None
    rating_best: str | None
    rating_worst: str | None
    rating_flags: list[str]
    published_at: datetime | None


@dataclass(frozen=True, slots=True)
class StoredFactChecks:
    """Fact-checks with the addresses each is also known by, and their embeddings, (n, dim) float32, row by row."""

    fact_checks: tuple[FactCheck, ...]
    aliases: tuple[tuple[str, ...], ...]
    vectors: NDArray[np.float32]


def upsert(conn: psycopg.Connection, records: Sequence[FactCheckRecord]) -> Upserted:
    """Write records in order; later ones of the same key win and keep the earlier wording as a version."""
    if not records:
        return Upserted(0, 0, 0)
    added = changed = 0
    with conn.cursor() as cursor:
        cursor.executemany(statements(_SQL)["upsert"], [_values(record) for record in records], returning=True)
        for result in cursor.results():
            if row := result.fetchone():
                added += row[0]
                changed += not row[0]
    return Upserted(added, changed, len(records) - added - changed)


def _values(record: FactCheckRecord) -> dict[str, object]:
    return asdict(record) | {"rating_flags": list(record.rating_flags), "aliases": list(record.aliases)}


def keep_aside(conn: psycopg.Connection, rejected: Iterable[Rejected]) -> None:
    """Put records into quarantine; the same fault of the same row is kept once."""
    with conn.cursor() as cursor:
        cursor.executemany(statements(_SQL)["quarantine"], [asdict(r) for r in rejected])


def unprepared(conn: psycopg.Connection, limit: int) -> list[UnpreparedRow]:
    with conn.cursor(row_factory=class_row(UnpreparedRow)) as cursor:
        return cursor.execute(statements(_SQL)["unprepared"], {"limit": limit}).fetchall()


def id_of_key(conn: psycopg.Connection, key: str, *, except_id: int) -> int | None:
    """Another row that has this key."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        found: int | None = cursor.execute(
            statements(_SQL)["id_of_key"], {"key": key, "except_id": except_id}
        ).fetchone()
        return found


def store_prepared(
    conn: psycopg.Connection, rows: Sequence[tuple[int, FactCheckRecord]], vectors: NDArray[np.float32], *,
    encoder: str, now: datetime,
) -> None:  # fmt: skip
    """Write cleaned rows with their embeddings; part of a transaction of its own."""
    conn.execute(statements(_SQL)["announce_preparing"])
    values = [
        _values(record) | {"id": row_id, "embedding": vector if vector.any() else None, "encoder": encoder, "now": now}
        for (row_id, record), vector in zip(rows, vectors, strict=True)
    ]
    with conn.cursor() as cursor:
        cursor.executemany(statements(_SQL)["store_prepared"], values)


def set_aside(conn: psycopg.Connection, row_id: int, reason: str) -> None:
    conn.execute(statements(_SQL)["announce_preparing"])
    conn.execute(statements(_SQL)["set_aside"], {"id": row_id, "reason": reason})


def state(conn: psycopg.Connection) -> tuple[int, datetime | None]:
    """A value that changes whenever the prepared fact-checks do."""
    row = conn.execute(statements(_SQL)["state"]).fetchone()
    assert row is not None
    return row[0], row[1]


def all_prepared(conn: psycopg.Connection, dim: int) -> StoredFactChecks:
    """Every prepared fact-check; one without words has a zero vector of `dim`."""
    with conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(statements(_SQL)["all_prepared"]).fetchall()
    vectors = np.zeros((len(rows), dim), dtype=np.float32)
    for i, row in enumerate(rows):
        if row["embedding"] is not None:
            vectors[i] = row["embedding"].to_numpy()
    facts = tuple(_fact_check(row) for row in rows)
    return StoredFactChecks(facts, tuple(tuple(row["aliases"]) for row in rows), vectors)


def _fact_check(row: dict[str, Any]) -> FactCheck:
    return FactCheck(
        FactCheckId(row["id"]), row["key"], row["claim"], row["title"], row["body"], row["url"], row["publisher"],
        row["language"], Verdict(row["verdict"]), row["rating_given"], row["published_at"],
    )  # fmt: skip


def nearest(conn: psycopg.Connection, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
    """(key, cosine) of the stored fact-checks nearest to a vector, by pgvector."""
    return [(key, cosine) for key, cosine in conn.execute(statements(_SQL)["nearest"], {"vector": vector, "k": k})]


def counts(conn: psycopg.Connection) -> dict[str, int]:
    with conn.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(statements(_SQL)["counts"]).fetchone()
        assert row is not None
        return row | {"in quarantine": cursor.execute(statements(_SQL)["quarantine_count"]).fetchone()["count"]}  # type: ignore[index]
