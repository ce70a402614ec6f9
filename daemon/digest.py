"""Makes a subscription's digest: the matches it was not mailed yet, frozen together with the mails that carry them."""

import hashlib
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg

from daemon.schedule import next_local_time
from daemon.service import Service
from daemon.store import mailing, searches
from daemon.store.mailing import Subscription
from domain.errors import BadInput
from domain.fact_check import Verdict
from domain.match import MatchReason, Stance
from domain.post import Reach
from domain.text import shorten
from reports.digest import RenderedDigest, render_digest
from reports.mail import Attachment, build_message, serialise
from reports.table import MatchRow, write_table
from reports.view import SPARKLINE_DAYS, ClaimView, DigestView, PostView, QueryView, QuietClaim, Totals, fill_days

logger = logging.getLogger(__name__)

_POSTS_SHOWN = 3  # a claim
_DEBUNKS_SHOWN = 2  # a claim
_QUERIES_SHOWN = 2  # a claim
_QUIET_SHOWN = 10  # claims
_QUOTE = 280  # characters of a post
_LATE = timedelta(hours=1)

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Draft:
    """A digest that is not frozen yet, with its matches as rows of the store."""

    view: DigestView
    found: Rows

    @property
    def worth_sending(self) -> bool:
        return bool(self.view.claims or self.view.notices)


def make_digest(service: Service, subscription_id: int) -> None:
    """Freeze the digest that is due, put its mails into the outbox and set the next time; all of it or nothing."""
    now = service.clock()
    with service.database.connection() as conn:
        subscription = mailing.lock_due(conn, subscription_id, now)
        if subscription is None:
            return
        draft = _draft(conn, subscription, now)
        if draft.worth_sending or subscription.empty_days == "send":
            _freeze(conn, service, subscription, draft, now)
        following = next_local_time(now, subscription.local_time, subscription.zone)
        mailing.set_next_due(conn, subscription.id, following)
    logger.info(
        "digest made", extra={"action": "digest", "subscription": subscription.id, "claims": len(draft.view.claims)}
    )


def preview(service: Service, name: str | None) -> RenderedDigest:
    """The digest as it would be now; nothing is stored. Raises BadInput for an unknown subscription."""
    with service.database.connection() as conn:
        found = mailing.subscription_by_name(conn, name) if name else next(iter(mailing.subscriptions(conn)), None)
        if found is None:
            raise BadInput(f"there is no subscription{f' {name!r}' if name else ''}: `claimwatch subscription add`")
        view = _draft(conn, found, service.clock()).view
    return render_digest(view, templates=service.settings.mail.templates)


def _freeze(
    conn: psycopg.Connection, service: Service, subscription: Subscription, draft: Draft, now: datetime
) -> None:
    rendered = render_digest(draft.view, templates=service.settings.mail.templates)
    sender = service.settings.mail.sender
    host = sender.rpartition("@")[2]
    name = f"{subscription.id}.{subscription.next_due:%Y%m%dT%H%M%S}"
    message = build_message(rendered, sender=sender, date=now, attachments=_attachments(draft))
    mails = {r: f"<{name}.{hashlib.sha256(r.encode()).hexdigest()[:12]}@{host}>" for r in subscription.recipients}
    values = {
        "subscription_id": subscription.id, "due_at": subscription.next_due, "period_from": draft.view.period_from,
        "period_to": draft.view.period_to, "subject": rendered.subject, "message": serialise(message),
        "claims": len(draft.view.claims), "posts": len(draft.found),
    }  # fmt: skip
    mailing.insert_digest(conn, values, matches=[row["match_id"] for row in draft.found], mails=mails, now=now)


def _attachments(draft: Draft) -> tuple[Attachment, ...]:
    if not draft.found:
        return ()
    table = write_table(
        MatchRow(
            claim=row["claim"], fact_check_url=row["fact_check_url"], post_url=row["url"], platform=row["platform"],
            platform_id=row["platform_id"], created_at=row["created_at"], stance=Stance(row["stance"]),
            confidence=row["confidence"], sentence=row["evidence"], query=row["found_by"] or "", reach=_reach(row),
        )
        for row in draft.found
    )  # fmt: skip
    return (Attachment(f"matches-{draft.view.date:%Y-%m-%d}.csv", table),)


def _draft(conn: psycopg.Connection, subscription: Subscription, now: datetime) -> Draft:
    since = mailing.last_period_end(conn, subscription.id) or subscription.created_at
    filters = {
        "id": subscription.id, "verdicts": subscription.verdicts, "languages": subscription.languages,
        "publishers": subscription.publishers, "min_confidence": subscription.min_confidence, "zone": subscription.zone,
    }  # fmt: skip
    found = mailing.rows(conn, "new_matches", filters | {"until": now})
    claims = _claims(conn, found, filters, now)
    quiet = mailing.rows(conn, "quiet", filters | {"ids": sorted({row["fact_check_id"] for row in found})})
    view = DigestView(
        subscription=subscription.name, date=_local_day(now, subscription.zone), zone=subscription.zone,
        period_from=min(since, now), period_to=now, generated_at=now,
        totals=_totals(conn, found, quiet, since=since, until=now), claims=claims,
        notices=tuple(_notices(searches.failures(conn, since=since, until=now))),
        quiet=tuple(QuietClaim(row["claim"], row["url"], row["created_at"]) for row in quiet[:_QUIET_SHOWN]),
        more_quiet=max(0, len(quiet) - _QUIET_SHOWN), late=now - subscription.next_due > _LATE,
    )  # fmt: skip
    return Draft(view, found)


def _claims(conn: psycopg.Connection, found: Rows, filters: dict[str, Any], now: datetime) -> tuple[ClaimView, ...]:
    """One view a claim, the one with most new posts that were not seen to debunk it first."""
    posts = _by_claim(found)
    wanted = filters | {"ids": list(posts)}
    facts = mailing.rows(conn, "claim_facts", wanted)
    since = now - timedelta(days=SPARKLINE_DAYS - 1)
    days = _by_claim(mailing.rows(conn, "posts_per_day", wanted | {"since": since}))
    queries = _by_claim(mailing.rows(conn, "claim_queries", {"matches": [row["match_id"] for row in found]}))
    last_day = _local_day(now, filters["zone"])
    views = [_claim(fact, posts[fact["id"]], days[fact["id"]], queries[fact["id"]], last_day) for fact in facts]
    return tuple(sorted(views, key=lambda view: (-view.repeating, view.claim)))


def _by_claim(rows: Rows) -> dict[int, Rows]:
    grouped: dict[int, Rows] = defaultdict(list)
    for row in rows:
        grouped[row["fact_check_id"]].append(row)
    return grouped


def _claim(fact: dict[str, Any], found: Rows, days: Rows, queries: Rows, last_day: date) -> ClaimView:
    posts = sorted(map(_post, found), key=lambda post: (-post.reach.engagement, -post.confidence, post.url or ""))
    debunks = tuple(post for post in posts if post.stance is Stance.DEBUNKING)
    others = tuple(post for post in posts if post.stance is not Stance.DEBUNKING)
    return ClaimView(
        claim=fact["claim"], language=fact["language"], verdict=Verdict(fact["verdict"]),
        rating_given=fact["rating_given"], publisher=fact["publisher"], url=fact["url"],
        published_at=fact["published_at"], why_watched=fact["why"], total_posts=fact["total_posts"],
        new_by_stance=Counter(post.stance for post in posts), reach=_total_reach(others),
        posts_per_day=fill_days({row["day"]: row["posts"] for row in days}, last=last_day),
        posts=others[:_POSTS_SHOWN], more_posts=max(0, len(others) - _POSTS_SHOWN), debunks=debunks[:_DEBUNKS_SHOWN],
        queries=tuple(QueryView(q["words"], "; ".join(q["edits"]), q["posts"]) for q in queries[:_QUERIES_SHOWN]),
    )  # fmt: skip


def _post(row: dict[str, Any]) -> PostView:
    return PostView(
        text=shorten(row["text"], _QUOTE), url=row["url"], platform=row["platform"], created_at=row["created_at"],
        language=row["language"], reach=_reach(row),
        confidence=row["confidence"], stance=Stance(row["stance"]), reason=MatchReason(row["reason"]),
        evidence=row["evidence"], found_by=row["found_by"],
    )  # fmt: skip


def _reach(row: dict[str, Any]) -> Reach:
    return Reach(row["likes"], row["reposts"], row["replies"], row["views"])


def _total_reach(posts: Iterable[PostView]) -> Reach:
    """Sums of what is known; None where no post says."""

    def total(values: list[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    reaches = [post.reach for post in posts]
    return Reach(
        total([r.likes for r in reaches]), total([r.reposts for r in reaches]), total([r.replies for r in reaches]),
        total([r.views for r in reaches]),
    )  # fmt: skip


def _totals(conn: psycopg.Connection, found: Rows, quiet: Rows, *, since: datetime, until: datetime) -> Totals:
    work = mailing.rows(conn, "work_done", {"since": since, "until": until})[0]
    debunking = {row["post_id"] for row in found if row["stance"] == Stance.DEBUNKING}
    others = {row["post_id"] for row in found if row["stance"] != Stance.DEBUNKING}
    watched = len(quiet) + len({row["fact_check_id"] for row in found})
    return Totals(len(others), len(debunking), watched, work["searches"], work["posts_read"])


def _notices(failed: Rows) -> Iterable[str]:
    """Failures in words: a search that was not carried out is never "no posts"."""
    for row in failed:
        count = f"{row['searches']} search{'es' * (row['searches'] > 1)}"
        period = f"{row['first']:%d %b %H:%M}–{row['last']:%H:%M} UTC"
        yield f"{row['connector']} was not searched as planned ({count}, {period}): {row['detail']}"


def _local_day(moment: datetime, zone: str) -> date:
    return moment.astimezone(ZoneInfo(zone)).date()
