"""Makes new and changed fact-checks ready, whoever wrote them: cleaned, embedded, watched if so wanted."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import psycopg

from daemon.intake.cleaning import clean
from daemon.intake.record import FactCheckRecord, RawFactCheck, Rejected, UnusableRecord
from daemon.service import Service
from daemon.store import fact_checks, mailing, watches
from daemon.store.fact_checks import UnpreparedRow
from domain.clock import Clock
from domain.fact_check import DEBUNKED
from models.language import detect_language
from models.ranking.fact_check_text import embedding_text

logger = logging.getLogger(__name__)

_BATCH = 512  # rows; one transaction each, so that a stop loses little

Row = tuple[int, FactCheckRecord]


@dataclass(frozen=True, slots=True)
class Prepared:
    ready: int = 0
    set_aside: int = 0
    watched: int = 0


def prepare(service: Service, progress: Callable[[int], None] = lambda _: None) -> Prepared:
    """Prepare all rows that wait; `progress` is told how many more are done."""
    total = Prepared()
    while batch := _prepare_batch(service):
        done = batch.ready + batch.set_aside
        total = Prepared(total.ready + batch.ready, total.set_aside + batch.set_aside, total.watched + batch.watched)
        progress(done)
    if total.ready or total.set_aside:
        logger.info(
            "fact-checks prepared", extra={"action": "prepare", "ready": total.ready, "set_aside": total.set_aside}
        )
    return total


def _prepare_batch(service: Service) -> Prepared | None:
    with service.database.connection() as conn:
        waiting = fact_checks.unprepared(conn, _BATCH)
        if not waiting:
            return None
        rows = _clean_rows(conn, waiting, service.clock)
    vectors = service.encoder.encode([embedding_text(record.claim, record.title) for _, record in rows])
    with service.database.connection() as conn:
        fact_checks.store_prepared(conn, rows, vectors, encoder=service.encoder.version, now=service.clock())
        watched = watches.watch_wanted(
            conn, [row for row, _ in rows], wanted_verdicts(conn), now=service.clock(), interval=first_interval(service)
        )
    return Prepared(len(rows), len(waiting) - len(rows), watched)


def wanted_verdicts(conn: psycopg.Connection) -> list[str]:
    """False and misleading, and what active subscriptions ask for besides."""
    return sorted(DEBUNKED | mailing.wanted_verdicts(conn))


def first_interval(service: Service) -> timedelta:
    return timedelta(hours=service.settings.watch.interval_hours)


def _clean_rows(conn: psycopg.Connection, waiting: list[UnpreparedRow], clock: Clock) -> list[Row]:
    """The rows that can be used, cleaned; the others are set aside and go to quarantine with the reason."""
    usable: dict[str, Row] = {}
    for row in waiting:
        try:
            record = _clean_row(row, clock)
            # A row that has a key already cannot share it: the column is unique.
            if row.key is None and (record.key in usable or fact_checks.id_of_key(conn, record.key, except_id=row.id)):
                raise UnusableRecord("url", f"the fact-check {record.key} is there already")
        except UnusableRecord as exc:
            fact_checks.set_aside(conn, row.id, f"{exc.field}: {exc.reason}")
            fact_checks.keep_aside(conn, [Rejected("fact_checks", row.id, exc.field, exc.reason, row.claim[:10_000])])
        else:
            usable[record.key] = (row.id, record)
    return list(usable.values())


def _clean_row(row: UnpreparedRow, clock: Clock) -> FactCheckRecord:
    raw = RawFactCheck(
        url=row.url or "", claim=row.claim, title=row.title, body=row.body, publisher=row.publisher, author=row.author,
        language=row.language, rating=row.rating_given, rating_value=row.rating_value or "",
        rating_best=row.rating_best or "", rating_worst=row.rating_worst or "",
        published_at=row.published_at.isoformat() if row.published_at else "",
    )  # fmt: skip
    record = clean(raw, source="fact_checks", clock=clock)
    flags = tuple(dict.fromkeys((*row.rating_flags, *record.rating_flags)))
    language = record.language or detect_language(f"{record.claim} {record.title}")
    return replace(record, key=row.key or record.key, language=language, rating_flags=flags)
