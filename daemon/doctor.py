"""Tries each part that is set up, and says what to do about those that do not work."""

import smtplib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import psycopg

from connectors.protocol import Connector, SearchFailed, Window
from daemon.database import writable_home
from daemon.delivery import FolderPostman, SmtpPostman
from daemon.fetching import count_posts
from daemon.preparation import outdated
from daemon.service import Service
from daemon.settings import Settings
from daemon.store import posts, surroundings
from daemon.wiring import load_opinion, open_postman, open_service
from domain.errors import ClaimwatchError
from domain.outcome import BudgetUsedUp
from domain.query import EndpointKind, all_words_query, text_query
from reports import wording

State = Literal["live", "embedded", "off", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    part: str
    state: State
    detail: str


def examine(settings: Settings) -> list[Finding]:
    """One finding a part, in the order in which a claim meets them."""
    findings = [_try("data folder", lambda: Finding("data folder", "live", str(writable_home(settings.home))))]
    try:
        with open_service(settings) as service:
            findings += list(_with_service(service))
    except ClaimwatchError as exc:
        findings.append(Finding("service", "broken", str(exc)))
    findings.append(_try("mail", lambda: _mail(settings)))
    return findings


def _with_service(service: Service) -> Iterator[Finding]:
    yield _try("database", lambda: _database(service))
    yield _try("job queue", lambda: _queue(service))
    yield _try("encoder", lambda: _encoder(service))
    if service.settings.match.second_opinion:
        yield _try("second opinion", lambda: Finding("second opinion", "live", load_opinion().name))
    yield _try("confidence", lambda: _confidence(service))
    if not service.connectors:
        yield Finding("connectors", "off", "none is set up: add [connectors.NAME] to claimwatch.toml")
    for connector in service.connectors.values():
        yield _try(f"connector {connector.name}", lambda connector=connector: _connector(service, connector))  # type: ignore[misc]


def _try(part: str, examination: Callable[[], Finding]) -> Finding:
    try:
        return examination()
    except (ClaimwatchError, psycopg.Error, OSError) as exc:
        return Finding(part, "broken", " ".join(str(exc).split()))


def _database(service: Service) -> Finding:
    with service.database.connection() as conn:
        versions = surroundings.database_version(conn)
    if versions is None:
        return Finding("database", "broken", "it lacks the vector extension: install pgvector")
    state: State = "live" if service.settings.database_url else "embedded"
    return Finding("database", state, f"Postgres {versions[0]}, pgvector {versions[1]}")


def _queue(service: Service) -> Finding:
    age = timedelta(seconds=service.settings.service.stalled_after_s)
    with service.database.connection() as conn:
        queue = surroundings.queue_state(conn, alive_within=age)
    detail = f"{queue.workers} workers alive, {queue.waiting} jobs wait, {queue.failed} failed"
    return Finding(
        "job queue", "live" if queue.workers else "off", detail + ("" if queue.workers else ": start `claimwatch run`")
    )


def _encoder(service: Service) -> Finding:
    encoder, waiting = service.encoder, outdated(service)
    detail = f"{encoder.name} {encoder.version}"
    if waiting:
        wait = wording.count(waiting, "fact-check waits", "fact-checks wait")
        detail += f"; {wait} for vectors by it, made anew before posts are compared"
    return Finding("encoder", "live", detail)


def _confidence(service: Service) -> Finding:
    from models.ranking.calibration import Calibration

    calibration = Calibration.load(multilingual=service.encoder.languages is None)
    known = f"{calibration.name} {calibration.version}"
    if calibration.encoder != service.encoder.version:
        known += f", fitted with encoder {calibration.encoder}, not the one in use: they may be too high or too low"
    return Finding("confidence", "live", known)


def _connector(service: Service, connector: Connector) -> Finding:
    word = "news"
    boolean = connector.kind is EndpointKind.BOOLEAN
    query = all_words_query((word,), policy="doctor") if boolean else text_query(connector.kind, word, policy="doctor")
    now = service.clock()
    window = Window(now - timedelta(days=1), now)
    part = f"connector {connector.name}"
    try:
        count = count_posts(service, connector, connector.compile(query)[0], window).count
    except SearchFailed as exc:
        return Finding(part, "off" if isinstance(exc.outcome, BudgetUsedUp) else "broken", str(exc))
    answers = f" (asked for {word!r} since yesterday: {count} posts)" if count is not None else ""
    return Finding(part, "live", f"{connector.kind}; answers{answers}{_overdue(service, connector)}")


def _overdue(service: Service, connector: Connector) -> str:
    hours = connector.policy.recheck_hours
    if hours is None:
        return ""
    with service.database.connection() as conn:
        late = posts.overdue(conn, connector.name, before=service.clock() - timedelta(hours=hours))
    return f"; {late} posts should have been asked for again by now: is `claimwatch run` running?" if late else ""


def _mail(settings: Settings) -> Finding:
    postman = open_postman(settings)
    if isinstance(postman, FolderPostman):
        return Finding("mail", "embedded", f"into {postman.folder}; set SMTP_URL to send")
    assert isinstance(postman, SmtpPostman)
    try:
        code = postman.greet()
    except smtplib.SMTPException as exc:
        return Finding("mail", "broken", f"{postman.host}: {exc}: check SMTP_URL")
    return Finding("mail", "live", f"{postman.host}:{postman.port} answers {code}")
