"""Queries, their searches, the posts they found and what those match."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import psycopg
from psycopg.rows import class_row, dict_row, scalar_row
from psycopg.types.json import Jsonb

from connectors.protocol import CompiledQuery, Page, Window
from daemon.store.outcomes import name_of
from daemon.store.posts import forgotten, mark
from daemon.store.statements import statements
from domain.ids import FactCheckId, PostId, WatchId
from domain.match import Match, MatchReason
from domain.outcome import Found, Outcome
from domain.post import Post
from domain.query import Query

_SQL = "searches"


@dataclass(frozen=True, slots=True)
class OpenSearch:
    """A search and how far it came; one that failed is taken up again where it stopped."""

    id: int
    cursor: str | None
    outcome: str | None
    posts: int

    @property
    def is_done(self) -> bool:
        return self.outcome == "found"


@dataclass(frozen=True, slots=True)
class Brought:
    posts_read: int
    new_posts: int
    confidences: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class UnmatchedPost:
    id: PostId
    text: str
    links: list[str]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Trouble:
    """Searches of a connector that were not carried out, or (outcome "found") not wholly, for one reason."""

    connector: str
    outcome: str
    detail: str
    searches: int
    first: datetime
    last: datetime


def record_query(conn: psycopg.Connection, watch: WatchId, connector: str, query: Query) -> int:
    """The id of the query, recorded with its trail."""
    values = {
        "watch_id": watch, "connector": connector, "kind": query.kind, "words": str(query), "policy": query.policy,
        "arm": query.arm, "terms": Jsonb([[[term.text, term.weight] for term in group] for group in query.groups]),
        "edits": Jsonb([str(edit) for edit in query.trail]),
    }  # fmt: skip
    with conn.cursor(row_factory=scalar_row) as cursor:
        return int(cursor.execute(statements(_SQL)["record_query"], values).fetchone())  # type: ignore[arg-type]


def open_search(
    conn: psycopg.Connection, query: int, compiled: CompiledQuery, window: Window, *, now: datetime
) -> OpenSearch:
    """Begin a search, or take up the one begun before a restart."""
    edits = Jsonb([str(edit) for edit in compiled.query.trail])
    values = {
        "query_id": query, "syntax": compiled.syntax, "edits": edits, "since": window.since, "until": window.until,
        "now": now,
    }  # fmt: skip
    with conn.cursor(row_factory=class_row(OpenSearch)) as cursor:
        row = cursor.execute(statements(_SQL)["open_search"], values).fetchone()
    assert row is not None
    return row


def save_page(conn: psycopg.Connection, search: int, page: Page, *, connector: str, now: datetime) -> list[PostId]:
    """Store a page and where the next one begins, together; the ids of its posts."""
    # In one order, so that two workers with the same posts never wait for each other.
    posts = sorted(_allowed(conn, page.posts), key=lambda post: (post.platform, post.platform_id))
    ids = [_save_post(conn, post, connector, now) for post in posts]
    with conn.cursor() as links:
        links.executemany(statements(_SQL)["link_post"], [{"search_id": search, "post_id": post} for post in ids])
    values = {"id": search, "cursor": page.cursor, "notices": list(page.notices)}
    conn.execute(statements(_SQL)["advance"], values)
    return ids


def _allowed(conn: psycopg.Connection, found: Sequence[Post]) -> list[Post]:
    """The posts less those that, or whose authors, asked to be forgotten."""
    marks: dict[str, set[str]] = defaultdict(set)
    for post in found:
        marks[post.platform] |= {mark(post.platform_id), post.author or ""}
    unwanted = {(platform, one) for platform in marks for one in forgotten(conn, platform, sorted(marks[platform]))}
    return [
        post for post in found if not {(post.platform, mark(post.platform_id)), (post.platform, post.author)} & unwanted
    ]


def add_spent(conn: psycopg.Connection, search: int, micro_dollars: int) -> int:
    """Add to what a search has cost; how many posts it has read."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        values = {"id": search, "spent": micro_dollars}
        return int(cursor.execute(statements(_SQL)["add_spent"], values).fetchone())  # type: ignore[arg-type]


def _save_post(conn: psycopg.Connection, post: Post, connector: str, now: datetime) -> PostId:
    values = {
        "connector": connector,
        "platform": post.platform, "platform_id": post.platform_id, "author": post.author, "text": post.text,
        "url": post.url, "links": list(post.links), "language": post.language, "likes": post.reach.likes,
        "reposts": post.reach.reposts, "replies": post.reach.replies, "views": post.reach.views,
        "created_at": post.created_at, "now": now,
    }  # fmt: skip
    with conn.cursor(row_factory=scalar_row) as cursor:
        return PostId(cursor.execute(statements(_SQL)["save_post"], values).fetchone())  # type: ignore[arg-type]


def close_search(conn: psycopg.Connection, search: int, outcome: Outcome, *, now: datetime) -> None:
    incomplete = outcome.incomplete if isinstance(outcome, Found) else ""
    values = {
        "id": search, "outcome": name_of(outcome), "detail": str(outcome), "incomplete": incomplete, "now": now,
    }  # fmt: skip
    conn.execute(statements(_SQL)["close"], values)


def brought(conn: psycopg.Connection, searches: Sequence[int], watch: WatchId, fact_check: FactCheckId) -> Brought:
    """What these searches of one query brought, the same before and after a restart."""
    values = {"searches": list(searches), "watch_id": watch, "fact_check_id": fact_check}
    row = conn.execute(statements(_SQL)["brought"], values).fetchone()
    assert row is not None
    return Brought(row[0], row[1], tuple(row[2] or ()))


def unmatched(conn: psycopg.Connection, ids: Sequence[PostId] | None, limit: int) -> list[UnmatchedPost]:
    """Posts not yet compared with the fact-checks: of those named, or (None) the oldest."""
    values = {"ids": None if ids is None else list(ids), "limit": limit}
    with conn.cursor(row_factory=class_row(UnmatchedPost)) as cursor:
        return cursor.execute(statements(_SQL)["unmatched"], values).fetchall()


def save_matches(
    conn: psycopg.Connection,
    post: PostId,
    matches: Sequence[Match],
    *,
    why: MatchReason,
    language: str | None,
    now: datetime,
) -> None:
    """Store a post's matches and that it has been compared; a pair already matched stays as it was."""
    for match in matches:
        values = {
            "post_id": post, "key": match.fact_check_key, "confidence": match.confidence, "reason": match.reason,
            "stance": match.stance, "evidence": match.sentence, "passage": match.passage, "scores": Jsonb(match.scores),
            "model": match.model, "now": now,
        }  # fmt: skip
        conn.execute(statements(_SQL)["insert_match"], values)
    unmatched_why = None if matches else str(why)
    conn.execute(
        statements(_SQL)["mark_matched"], {"post_id": post, "now": now, "why": unmatched_why, "language": language}
    )


def fresh_matches(conn: psycopg.Connection, watch: WatchId, fact_check: FactCheckId, *, until: datetime) -> int:
    """Matching posts that the run up to `until` was the first to find."""
    values = {"watch_id": watch, "fact_check_id": fact_check, "until": until}
    row = conn.execute(statements(_SQL)["fresh_matches"], values).fetchone()
    assert row is not None
    return int(row[0])


def past_yield(conn: psycopg.Connection, connector: str, syntax: str) -> int | None:
    """Posts that searches with these words brought there on average, or any searches; None: there were none yet."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        found: int | None = cursor.execute(
            statements(_SQL)["past_yield"], {"connector": connector, "syntax": syntax}
        ).fetchone()
    return found


def failures(conn: psycopg.Connection, *, since: datetime, until: datetime) -> list[Trouble]:
    """Searches of a period that were not carried out or not wholly, by connector and reason."""
    with conn.cursor(row_factory=class_row(Trouble)) as cursor:
        return cursor.execute(statements(_SQL)["failures"], {"since": since, "until": until}).fetchall()


def counts(conn: psycopg.Connection) -> dict[str, int]:
    with conn.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(statements(_SQL)["counts"]).fetchone()
    assert row is not None
    return row
