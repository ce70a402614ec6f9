"""Subscriptions, what each was mailed, and the outbox."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any, Literal

import psycopg
from psycopg.rows import class_row, scalar_row

from daemon.store.statements import statements
from domain.ids import DigestId, SubscriptionId

_SQL = "mailing"

OutboxState = Literal["pending", "sent", "failed", "uncertain"]


@dataclass(frozen=True, slots=True)
class Subscription:
    """Who gets which claims, when: at a local time of an IANA zone."""

    id: SubscriptionId
    name: str
    recipients: list[str]
    verdicts: list[str]
    languages: list[str]
    publishers: list[str]
    min_confidence: float
    local_time: time
    zone: str
    empty_days: Literal["skip", "send"]
    state: str
    next_due: datetime
    created_at: datetime


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """A mail taken from the outbox: nobody else will send it."""

    id: int
    recipient: str
    message_id: str
    attempts: int
    message: bytes
    due_at: datetime
    subscription: str


@dataclass(frozen=True, slots=True)
class FrozenDigest:
    """A digest as it was or would be mailed, without its recipient; `claims` and `posts` are counts."""

    subscription: str
    subject: str
    period_from: datetime
    period_to: datetime
    claims: int
    posts: int
    message: bytes


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A mail as `outbox list` shows it."""

    id: int
    state: OutboxState
    recipient: str
    attempts: int
    detail: str
    updated_at: datetime
    subject: str
    subscription: str


@dataclass(frozen=True, slots=True)
class MailedClaim:
    claim: str
    rating_given: str
    posts: int


def add_subscription(conn: psycopg.Connection, values: Mapping[str, object]) -> int | None:
    """The new subscription's id; None if the name is taken."""
    found: int | None = _scalar(conn, "add_subscription", values)
    return found


def subscriptions(conn: psycopg.Connection) -> list[Subscription]:
    with conn.cursor(row_factory=class_row(Subscription)) as cursor:
        return cursor.execute(statements(_SQL)["subscriptions"]).fetchall()


def subscription_by_name(conn: psycopg.Connection, name: str) -> Subscription | None:
    with conn.cursor(row_factory=class_row(Subscription)) as cursor:
        return cursor.execute(statements(_SQL)["subscription_by_name"], {"name": name}).fetchone()


def set_subscription_state(conn: psycopg.Connection, name: str, state: Literal["active", "paused"]) -> bool:
    return _scalar(conn, "set_subscription_state", {"name": name, "state": state}) is not None


def wanted_verdicts(conn: psycopg.Connection) -> set[str]:
    """Verdicts that active subscriptions ask for."""
    return {row[0] for row in conn.execute(statements(_SQL)["wanted_verdicts"])}


def due_subscriptions(conn: psycopg.Connection, now: datetime) -> list[SubscriptionId]:
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(statements(_SQL)["due_subscriptions"], {"now": now}).fetchall()


def lock_due(conn: psycopg.Connection, subscription: int, now: datetime) -> Subscription | None:
    """The subscription if its digest is due, locked till the transaction ends."""
    with conn.cursor(row_factory=class_row(Subscription)) as cursor:
        return cursor.execute(statements(_SQL)["due_subscription"], {"id": subscription, "now": now}).fetchone()


def set_next_due(conn: psycopg.Connection, subscription: SubscriptionId, next_due: datetime) -> None:
    conn.execute(statements(_SQL)["set_next_due"], {"id": subscription, "next_due": next_due})


def last_period_end(conn: psycopg.Connection, subscription: SubscriptionId) -> datetime | None:
    found: datetime | None = _scalar(conn, "last_period_end", {"id": subscription})
    return found


def insert_digest(
    conn: psycopg.Connection,
    values: Mapping[str, object],
    *,
    matches: Sequence[int],
    mails: Mapping[str, str],
    now: datetime,
) -> DigestId | None:
    """Freeze a digest with its matches and one outbox row a recipient (recipient → Message-ID); None if it exists."""
    digest = _scalar(conn, "insert_digest", values)
    if digest is None:
        return None
    with conn.cursor() as cursor:
        subscription = values["subscription_id"]
        items = [{"subscription_id": subscription, "match_id": match, "digest_id": digest} for match in matches]
        cursor.executemany(statements(_SQL)["insert_digest_match"], items)
        letters = [{"digest_id": digest, "recipient": r, "message_id": m, "now": now} for r, m in mails.items()]
        cursor.executemany(statements(_SQL)["insert_outbox"], letters)
    return DigestId(digest)


def take_pending(conn: psycopg.Connection, now: datetime) -> OutgoingMail | None:
    with conn.cursor(row_factory=class_row(OutgoingMail)) as cursor:
        return cursor.execute(statements(_SQL)["take_pending"], {"now": now}).fetchone()


def settle(
    conn: psycopg.Connection,
    mail: int,
    state: OutboxState,
    detail: str,
    *,
    now: datetime,
    next_try: datetime | None = None,
) -> None:
    values = {"id": mail, "state": state, "detail": detail, "next_try": next_try or now, "now": now}
    conn.execute(statements(_SQL)["settle"], values)


def settle_interrupted(conn: psycopg.Connection, state: OutboxState, *, before: datetime, now: datetime) -> int:
    """Settle mails whose sender stopped in the middle; how many."""
    return len(conn.execute(statements(_SQL)["interrupted"], {"state": state, "before": before, "now": now}).fetchall())


def any_pending(conn: psycopg.Connection, now: datetime) -> bool:
    return bool(_scalar(conn, "any_pending", {"now": now}))


def resend(conn: psycopg.Connection, mail: int, now: datetime) -> bool:
    return _scalar(conn, "resend", {"id": mail, "now": now}) is not None


def outbox(conn: psycopg.Connection, limit: int) -> list[OutboxRow]:
    """Mails, the newest first."""
    with conn.cursor(row_factory=class_row(OutboxRow)) as cursor:
        return cursor.execute(statements(_SQL)["outbox"], {"limit": limit}).fetchall()


def mailed_claims(conn: psycopg.Connection, subscription: str) -> list[MailedClaim]:
    """Claims of a subscription's newest digest, the one with most posts first."""
    with conn.cursor(row_factory=class_row(MailedClaim)) as cursor:
        return cursor.execute(statements(_SQL)["mailed_claims"], {"subscription": subscription}).fetchall()


def outbox_counts(conn: psycopg.Connection) -> dict[str, int]:
    return {state: count for state, count in conn.execute(statements(_SQL)["outbox_counts"])}


def stored_digest(conn: psycopg.Connection, name: str | None, day: date | None) -> FrozenDigest | None:
    """The newest digest as it was frozen, of a subscription and local day where given."""
    with conn.cursor(row_factory=class_row(FrozenDigest)) as cursor:
        return cursor.execute(statements(_SQL)["digest_for_day"], {"name": name, "day": day}).fetchone()


def _scalar(conn: psycopg.Connection, name: str, values: Mapping[str, object]) -> Any:
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(statements(_SQL)[name], values).fetchone()
