"""Fact-checks and what could not become one."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import psycopg
from psycopg.rows import class_row, dict_row, scalar_row

from daemon.intake.record import FactCheckRecord, RawFactCheck, Rejected
from daemon.store.statements import statements
from domain.fact_check import FactCheck, Verdict
from domain.ids import FactCheckId

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SQL = "fact_checks"


@dataclass(frozen=True, slots=True)
class Upserted:
    added: int
    changed: int
    unchanged: int


@dataclass(frozen=True, slots=True)
class KeptAside:
    """A record in quarantine: where it came from, what was wrong, and the record as it came."""

    id: int
    source: str  # file, or "fact_checks" for a row of another system
    row: int | None
    field: str
    reason: str
    record: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class UncleanRow:
    """A row as another system left it."""

    id: int
    key: str | None
    flags: tuple[str, ...]
    raw: RawFactCheck


@dataclass(frozen=True, slots=True)
class UnpreparedRow:
    id: int
    version: int
    claim: str
    title: str
    language: str  # empty: to be found out


@dataclass(frozen=True, slots=True)
class StoredFactChecks:
    """Fact-checks with the addresses each is also known by, and their embeddings, (n, dim) float32, row by row."""

    fact_checks: tuple[FactCheck, ...]
    aliases: tuple[tuple[str, ...], ...]
    vectors: "NDArray[np.float32]"


def upsert(conn: psycopg.Connection, records: Sequence[FactCheckRecord]) -> Upserted:
    """Write records in order; later ones of the same key win and keep the earlier wording as a version."""
    if not records:
        return Upserted(0, 0, 0)
    _announce(conn, "import")
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


def kept_aside(conn: psycopg.Connection, limit: int) -> list[KeptAside]:
    """What lies in quarantine, the newest first."""
    with conn.cursor(row_factory=class_row(KeptAside)) as cursor:
        return cursor.execute(statements(_SQL)["kept_aside"], {"limit": limit}).fetchall()


def unclean(conn: psycopg.Connection, limit: int) -> list[UncleanRow]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return [_unclean_row(row) for row in cursor.execute(statements(_SQL)["unclean"], {"limit": limit})]


def _unclean_row(row: dict[str, Any]) -> UncleanRow:
    published_at = row.pop("published_at")
    row_id, key, flags = row.pop("id"), row.pop("key"), tuple(row.pop("flags"))
    return UncleanRow(row_id, key, flags, RawFactCheck(**row, published_at=str(published_at or "")))


def id_of_key(conn: psycopg.Connection, key: str, *, except_id: int) -> int | None:
    """Another row that has this key."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        found: int | None = cursor.execute(
            statements(_SQL)["id_of_key"], {"key": key, "except_id": except_id}
        ).fetchone()
        return found


def verdict(conn: psycopg.Connection, key: str) -> str | None:
    with conn.cursor(row_factory=scalar_row) as cursor:
        found: str | None = cursor.execute(statements(_SQL)["verdict"], {"key": key}).fetchone()
        return found


def store_cleaned(conn: psycopg.Connection, rows: Iterable[tuple[int, FactCheckRecord]]) -> None:
    _announce(conn, "cleaning")
    with conn.cursor() as cursor:
        cursor.executemany(
            statements(_SQL)["store_cleaned"], [_values(record) | {"id": row_id} for row_id, record in rows]
        )


def set_aside(conn: psycopg.Connection, row_id: int, reason: str) -> None:
    _announce(conn, "cleaning")
    conn.execute(statements(_SQL)["set_aside"], {"id": row_id, "reason": reason})


def _announce(conn: psycopg.Connection, writer: Literal["import", "cleaning"]) -> None:
    conn.execute(statements(_SQL)["announce_writer"], {"writer": writer})


def unprepared(conn: psycopg.Connection, limit: int) -> list[UnpreparedRow]:
    with conn.cursor(row_factory=class_row(UnpreparedRow)) as cursor:
        return cursor.execute(statements(_SQL)["unprepared"], {"limit": limit}).fetchall()


def store_prepared(
    conn: psycopg.Connection, rows: Sequence[UnpreparedRow], vectors: "NDArray[np.float32]", *,
    encoder: str, now: datetime,
) -> None:  # fmt: skip
    """Write language and embedding of each row; one that has changed since is left to the next turn."""
    values = [
        {"id": row.id, "version": row.version, "language": row.language, "embedding": vector if vector.any() else None,
         "encoder": encoder, "now": now}
        for row, vector in zip(rows, vectors, strict=True)
    ]  # fmt: skip
    with conn.cursor() as cursor:
        cursor.executemany(statements(_SQL)["store_prepared"], values)


def outdated(conn: psycopg.Connection, encoder: str, limit: int) -> list[UnpreparedRow]:
    """Prepared fact-checks whose vector is of another encoder than the one of this version, oldest first."""
    with conn.cursor(row_factory=class_row(UnpreparedRow)) as cursor:
        return cursor.execute(statements(_SQL)["outdated"], {"encoder": encoder, "limit": limit}).fetchall()


def outdated_count(conn: psycopg.Connection, encoder: str) -> int:
    with conn.cursor(row_factory=scalar_row) as cursor:
        return int(cursor.execute(statements(_SQL)["outdated_count"], {"encoder": encoder}).fetchone())  # type: ignore[arg-type]


def state(conn: psycopg.Connection, encoder: str) -> object:
    """A value that changes whenever the prepared fact-checks, or their vectors by the encoder of this version, do."""
    return conn.execute(statements(_SQL)["state"], {"encoder": encoder}).fetchone()


def all_prepared(conn: psycopg.Connection, encoder: str, dim: int) -> StoredFactChecks:
    """Every prepared fact-check; one without words, or embedded by another encoder than the one of this version, has a
    zero vector of `dim`."""
    import numpy as np

    with conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(statements(_SQL)["all_prepared"], {"encoder": encoder}).fetchall()
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


def nearest(conn: psycopg.Connection, vector: "NDArray[np.float32]", k: int) -> list[tuple[str, float]]:
    """(key, cosine) of the stored fact-checks nearest to a vector, by pgvector."""
    return [(key, cosine) for key, cosine in conn.execute(statements(_SQL)["nearest"], {"vector": vector, "k": k})]


def counts(conn: psycopg.Connection) -> dict[str, int]:
    with conn.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(statements(_SQL)["counts"]).fetchone()
        assert row is not None
        return row | {"in quarantine": cursor.execute(statements(_SQL)["quarantine_count"]).fetchone()["count"]}  # type: ignore[index]
