"""What a digest is made of, read for one subscription (statements in mailing.sql)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeVar

import psycopg
from psycopg.rows import class_row

from daemon.store.mailing import Subscription
from daemon.store.statements import statements
from domain.post import Reach
from domain.query import Arm, EndpointKind, Query, Term

_SQL = "mailing"
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class FoundMatch:
    """A match that was not mailed yet, with its post, its claim and the query that found it."""

    match_id: int
    confidence: float
    reason: str
    stance: str
    evidence: str
    passage: str
    matched_at: datetime
    post_id: int
    platform: str
    platform_id: str
    text: str
    url: str | None
    language: str
    likes: int | None
    reposts: int | None
    replies: int | None
    views: int | None
    created_at: datetime
    connector: str | None
    cluster: int | None
    fact_check_id: int
    claim: str
    claim_language: str
    fact_check_url: str | None
    found_by: str | None
    query_id: int | None

    @property
    def reach(self) -> Reach:
        return Reach(self.likes, self.reposts, self.replies, self.views)


@dataclass(frozen=True, slots=True)
class ClaimFacts:
    fact_check_id: int
    claim: str
    url: str | None
    publisher: str
    language: str
    verdict: str
    rating_given: str
    published_at: datetime | None
    why: str
    total_posts: int


@dataclass(frozen=True, slots=True)
class DayCount:
    fact_check_id: int
    day: date
    posts: int


@dataclass(frozen=True, slots=True)
class FruitfulQuery:
    fact_check_id: int
    words: str
    posts: int


@dataclass(frozen=True, slots=True)
class RecordedQuery:
    """A query, the claim it is for, and how it was made."""

    id: int
    fact_check_id: int
    kind: str
    arm: str
    policy: str
    terms: list[list[tuple[str, float]]]  # OR groups of words with their weights
    edits: list[str]  # as people read them

    @property
    def query(self) -> Query:
        groups = tuple(tuple(Term(text, weight) for text, weight in group) for group in self.terms)
        return Query(EndpointKind(self.kind), groups, self.policy, arm=Arm(self.arm))


@dataclass(frozen=True, slots=True)
class YieldOfArm:
    """What the queries of an arm read within a period, and how much of it matched."""

    arm: str
    queries: int
    posts_read: int
    matches: int


@dataclass(frozen=True, slots=True)
class QuietWatch:
    """A watched claim without anything new."""

    claim: str
    url: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class WorkDone:
    """Searches that ended within a period, posts that were read, claims that waited in vain."""

    searches: int
    posts_read: int
    overdue: int


def new_matches(conn: psycopg.Connection, subscription: Subscription, *, until: datetime) -> list[FoundMatch]:
    return _rows(conn, "new_matches", FoundMatch, _filters(subscription) | {"until": until})


def claim_facts(conn: psycopg.Connection, subscription: Subscription, claims: Collection[int]) -> list[ClaimFacts]:
    return _rows(conn, "claim_facts", ClaimFacts, _filters(subscription) | {"ids": list(claims)})


def posts_per_day(
    conn: psycopg.Connection, subscription: Subscription, claims: Collection[int], *, since: datetime
) -> list[DayCount]:
    """Matched posts of each local day since a moment; days without any are left out."""
    return _rows(conn, "posts_per_day", DayCount, _filters(subscription) | {"ids": list(claims), "since": since})


def claim_queries(conn: psycopg.Connection, matches: Sequence[int]) -> list[FruitfulQuery]:
    return _rows(conn, "claim_queries", FruitfulQuery, {"matches": list(matches)})


def recorded_queries(conn: psycopg.Connection, ids: Collection[int]) -> list[RecordedQuery]:
    return _rows(conn, "recorded_queries", RecordedQuery, {"ids": list(ids)})


def arm_yields(
    conn: psycopg.Connection, subscription: Subscription, *, since: datetime, until: datetime
) -> list[YieldOfArm]:
    """Of the learned and the plain arm over all claims, those that read posts; matches as sure as the subscription
    wants them."""
    values = {"since": since, "until": until, "min_confidence": subscription.min_confidence}
    return _rows(conn, "arm_yields", YieldOfArm, values)


def quiet_watches(
    conn: psycopg.Connection, subscription: Subscription, *, besides: Collection[int]
) -> list[QuietWatch]:
    """Watched claims other than those."""
    return _rows(conn, "quiet", QuietWatch, _filters(subscription) | {"ids": list(besides)})


def work_done(conn: psycopg.Connection, *, since: datetime, until: datetime) -> WorkDone:
    return _rows(conn, "work_done", WorkDone, {"since": since, "until": until})[0]


def _filters(subscription: Subscription) -> dict[str, Any]:
    return {
        "id": subscription.id, "verdicts": subscription.verdicts, "languages": subscription.languages,
        "publishers": subscription.publishers, "min_confidence": subscription.min_confidence, "zone": subscription.zone,
    }  # fmt: skip


def _rows(conn: psycopg.Connection, name: str, row: type[Row], values: dict[str, Any]) -> list[Row]:
    with conn.cursor(row_factory=class_row(row)) as cursor:
        return cursor.execute(statements(_SQL)[name], values).fetchall()
