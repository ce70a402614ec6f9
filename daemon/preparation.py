"""Makes new and changed fact-checks ready, whoever wrote them: cleaned, embedded, watched if so wanted."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

import psycopg

from daemon.intake.cleaning import clean
from daemon.intake.record import RECORD_LIMIT, FactCheckRecord, Rejected, UnusableRecord
from daemon.service import Service
from daemon.store import fact_checks, mailing, watches
from daemon.store.fact_checks import UncleanRow, UnpreparedRow
from domain.clock import Clock
from domain.fact_check import DEBUNKED
from models.language import detect_language
from models.ranking.fact_check_text import embedding_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

_BATCH = 2048  # rows; one transaction each, so that a stop loses little


@dataclass(frozen=True, slots=True)
class Prepared:
    ready: int = 0
    set_aside: int = 0
    watched: int = 0


def prepare(service: Service, progress: Callable[[int], None] = lambda _: None) -> Prepared:
    """Prepare all rows that wait; `progress` is told how many more are done."""
    ready = watched = set_aside = 0
    while (unusable := _clean_batch(service)) is not None:
        set_aside += unusable
    while batch := _prepare_batch(service):
        ready, watched = ready + batch.ready, watched + batch.watched
        progress(batch.ready)
    if ready:  # the encoder is loaded; where nothing is new, it is not worth loading: posts are not compared before
        renew_vectors(service)
    if ready or set_aside:
        logger.info("fact-checks prepared", extra={"action": "prepare", "ready": ready, "set_aside": set_aside})
    return Prepared(ready, set_aside, watched)


def _clean_batch(service: Service) -> int | None:
    """Clean what another system wrote; how many rows cannot be used, None if there was no row."""
    with service.database.connection() as conn:
        rows = fact_checks.unclean(conn, _BATCH)
        if not rows:
            return None
        usable = _usable(conn, rows, service.clock)
        fact_checks.store_cleaned(conn, usable)
    return len(rows) - len(usable)


def _prepare_batch(service: Service) -> Prepared | None:
    with service.database.connection() as conn:
        rows = [_with_language(row) for row in fact_checks.unprepared(conn, _BATCH)]
    if not rows:
        return None
    vectors = _embed(service, rows)
    with service.database.connection() as conn:
        fact_checks.store_prepared(conn, rows, vectors, encoder=service.encoder.version, now=service.clock())
        watched = watches.watch_wanted(
            conn, [row.id for row in rows], wanted_verdicts(conn), now=service.clock(), interval=first_interval(service)
        )
    return Prepared(ready=len(rows), watched=watched)


def renew_vectors(service: Service, progress: Callable[[int], None] = lambda _: None) -> int:
    """Embed anew what another encoder embedded, before posts are compared, each of which is but once; how many."""
    waiting, done = outdated(service), 0
    if waiting:
        logger.info("fact-checks wait for vectors of this encoder", extra={"action": "prepare", "waiting": waiting})
    while done < waiting and (renewed := _renew_batch(service)):
        done += renewed
        progress(renewed)
    return done


def outdated(service: Service) -> int:
    """Prepared fact-checks whose vectors are another encoder's, which are never compared with this one's."""
    with service.database.connection() as conn:
        return fact_checks.outdated_count(conn, service.encoder.version)


def _renew_batch(service: Service) -> int:
    with service.database.connection() as conn:
        rows = fact_checks.outdated(conn, service.encoder.version, _BATCH)
    if rows:
        vectors = _embed(service, rows)
        with service.database.connection() as conn:
            fact_checks.store_prepared(conn, rows, vectors, encoder=service.encoder.version, now=service.clock())
    return len(rows)


def _embed(service: Service, rows: Sequence[UnpreparedRow]) -> "NDArray[np.float32]":
    return service.encode([embedding_text(row.claim, row.title) for row in rows])


def _with_language(row: UnpreparedRow) -> UnpreparedRow:
    return row if row.language else replace(row, language=detect_language(f"{row.claim} {row.title}"))


def wanted_verdicts(conn: psycopg.Connection) -> list[str]:
    """False and misleading, and what active subscriptions ask for besides."""
    return sorted(DEBUNKED | mailing.wanted_verdicts(conn))


def first_interval(service: Service) -> timedelta:
    return timedelta(hours=service.settings.watch.interval_hours)


def _usable(conn: psycopg.Connection, rows: list[UncleanRow], clock: Clock) -> list[tuple[int, FactCheckRecord]]:
    """The rows that can be used, cleaned; the others are set aside and go to quarantine with the reason."""
    usable: dict[str, tuple[int, FactCheckRecord]] = {}
    for row in rows:
        try:
            record = clean(row.raw, source="fact_checks", clock=clock)
            record = replace(record, key=row.key or record.key, rating_flags=_union(row.flags, record.rating_flags))
            # A row that has a key already cannot share it: the column is unique.
            if row.key is None and (record.key in usable or fact_checks.id_of_key(conn, record.key, except_id=row.id)):
                raise UnusableRecord("url", f"the fact-check {record.key} is there already")
        except UnusableRecord as exc:
            fact_checks.set_aside(conn, row.id, f"{exc.field}: {exc.reason}")
            kept = row.raw.claim[:RECORD_LIMIT]
            fact_checks.keep_aside(conn, [Rejected("fact_checks", row.id, exc.field, exc.reason, kept)])
        else:
            usable[record.key] = (row.id, record)
    return list(usable.values())


def _union(flags: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*flags, *more)))
