"""Makes a subscription's digest: the matches it was not mailed yet, frozen together with the mails that carry them."""

import hashlib
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg

from daemon.schedule import next_local_time
from daemon.service import Service
from daemon.store import mailing, searches
from daemon.store.mailing import FrozenDigest, Subscription
from domain.errors import BadInput
from domain.fact_check import Verdict
from domain.match import MatchReason, Stance
from domain.post import Reach
from domain.text import shorten
from reports import wording
from reports.digest import render_digest
from reports.mail import Attachment, build_message, sender_mailbox, serialise
from reports.table import MatchRow, write_table
from reports.view import SPARKLINE_DAYS, ClaimView, DigestView, PostView, QueryView, QuietClaim, Totals, fill_days

logger = logging.getLogger(__name__)

_POSTS_SHOWN = 3  # a claim
_DEBUNKS_SHOWN = 2  # a claim
_QUERIES_SHOWN = 2  # a claim
_QUIET_SHOWN = 10  # claims
_QUOTE = 280  # characters of a post
_STRICTEST_QUOTE = 140
_LATE = timedelta(hours=1)
_REPEATING = (Stance.SPREADING, Stance.UNJUDGED)

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Draft:
    """A digest that is not frozen yet, with its matches as rows of the store."""

    view: DigestView
    found: Rows

    @property
    def worth_sending(self) -> bool:
        return bool(self.view.claims or self.view.notices)

    @property
    def posts(self) -> int:
        """New posts, each once."""
        return len({row["post_id"] for row in self.found})


def make_digest(service: Service, subscription_id: int) -> None:
    """Freeze the digest that is due, put its mails into the outbox and set the next time; all of it or nothing."""
    now = service.clock()
    with service.database.connection() as conn:
        subscription = mailing.lock_due(conn, subscription_id, now)
        if subscription is None:
            return
        draft = _draft(conn, service, subscription, now)
        if draft.worth_sending or subscription.empty_days == "send":
            _freeze(conn, service, subscription, draft, now)
        following = next_local_time(now, subscription.local_time, subscription.zone)
        mailing.set_next_due(conn, subscription.id, following)
    logger.info(
        "digest made", extra={"action": "digest", "subscription": subscription.id, "claims": len(draft.view.claims)}
    )


def preview(service: Service, name: str | None) -> FrozenDigest:
    """The digest as it would be now; nothing is stored. Raises BadInput for an unknown subscription."""
    now = service.clock()
    with service.database.connection() as conn:
        found = mailing.subscription_by_name(conn, name) if name else next(iter(mailing.subscriptions(conn)), None)
        if found is None:
            raise BadInput(f"there is no subscription{f' {name!r}' if name else ''}: `claimwatch subscription add`")
        draft = _draft(conn, service, found, now)
    return _frozen(service, draft, now)


def _frozen(service: Service, draft: Draft, now: datetime) -> FrozenDigest:
    mail = service.settings.mail
    rendered = render_digest(draft.view, templates=mail.templates)
    message = build_message(rendered, sender=mail.sender, date=now, attachments=_attachments(draft))
    view = draft.view
    return FrozenDigest(
        view.subscription, rendered.subject, view.period_from, view.period_to, len(view.claims), draft.posts,
        serialise(message),
    )  # fmt: skip


def _freeze(
    conn: psycopg.Connection, service: Service, subscription: Subscription, draft: Draft, now: datetime
) -> None:
    frozen = _frozen(service, draft, now)
    mails = {r: _message_id(subscription, r, service.settings.mail.sender) for r in subscription.recipients}
    values = {
        "subscription_id": subscription.id, "due_at": subscription.next_due, "period_from": frozen.period_from,
        "period_to": frozen.period_to, "subject": frozen.subject, "message": frozen.message,
        "claims": frozen.claims, "posts": frozen.posts,
    }  # fmt: skip
    mailing.insert_digest(conn, values, matches=[row["match_id"] for row in draft.found], mails=mails, now=now)


def _message_id(subscription: Subscription, recipient: str, sender: str) -> str:
    """The same for the same digest and recipient, unlike any other (RFC 5322 section 3.6.4)."""
    who = hashlib.sha256(recipient.encode()).hexdigest()[:12]
    return f"<{subscription.id}.{subscription.next_due:%Y%m%dT%H%M%S}.{who}@{sender_mailbox(sender).domain}>"


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


def _draft(conn: psycopg.Connection, service: Service, subscription: Subscription, now: datetime) -> Draft:
    filters = {
        "id": subscription.id, "verdicts": subscription.verdicts, "languages": subscription.languages,
        "publishers": subscription.publishers, "min_confidence": subscription.min_confidence, "zone": subscription.zone,
    }  # fmt: skip
    found = [_quoted(row, service) for row in mailing.rows(conn, "new_matches", filters | {"until": now})]
    since = min(_period_start(conn, subscription, found), now)
    claims = _claims(conn, found, filters, since=since, now=now)
    quiet = mailing.rows(conn, "quiet", filters | {"ids": sorted({row["fact_check_id"] for row in found})})
    work = mailing.rows(conn, "work_done", {"since": since, "until": now})[0]
    failed = searches.failures(conn, since=since, until=now)
    view = DigestView(
        subscription=subscription.name, date=_local_day(now, subscription.zone), zone=subscription.zone,
        period_from=since, period_to=now, generated_at=now,
        totals=_totals(found, quiet, work, since=since), claims=claims,
        notices=(*_waiting(work), *_failures(failed, ZoneInfo(subscription.zone))),
        quiet=tuple(QuietClaim(row["claim"], row["url"], row["created_at"]) for row in quiet[:_QUIET_SHOWN]),
        more_quiet=max(0, len(quiet) - _QUIET_SHOWN), late=now - subscription.next_due > _LATE,
    )  # fmt: skip
    return Draft(view, found)


def _period_start(conn: psycopg.Connection, subscription: Subscription, found: Rows) -> datetime:
    """The end of the last digest; or earlier, where matches from before the subscription come with its first one."""
    moments: list[datetime] = [row["matched_at"] for row in found]
    return min([mailing.last_period_end(conn, subscription.id) or subscription.created_at, *moments])


def _claims(
    conn: psycopg.Connection, found: Rows, filters: dict[str, Any], *, since: datetime, now: datetime
) -> tuple[ClaimView, ...]:
    """One view a claim, the one with most new posts that were not seen to debunk it first."""
    posts = _by_claim(found)
    wanted = filters | {"ids": list(posts)}
    facts = mailing.rows(conn, "claim_facts", wanted)
    last_day = _local_day(now, filters["zone"])
    days = _by_claim(mailing.rows(conn, "posts_per_day", wanted | {"since": _first_bar(last_day, filters["zone"])}))
    queries = _by_claim(mailing.rows(conn, "claim_queries", {"matches": [row["match_id"] for row in found]}))
    views = [
        _claim(fact, posts[fact["id"]], days[fact["id"]], queries[fact["id"]], since=since, last_day=last_day)
        for fact in facts
    ]
    return tuple(sorted(views, key=lambda view: (-view.repeating, view.claim)))


def _first_bar(last_day: date, zone: str) -> datetime:
    """Midnight at which the first day of the sparkline begins."""
    return datetime.combine(last_day - timedelta(days=SPARKLINE_DAYS - 1), time(), ZoneInfo(zone))


def _by_claim(rows: Rows) -> dict[int, Rows]:
    grouped: dict[int, Rows] = defaultdict(list)
    for row in rows:
        grouped[row["fact_check_id"]].append(row)
    return grouped


def _claim(
    fact: dict[str, Any], found: Rows, days: Rows, queries: Rows, *, since: datetime, last_day: date
) -> ClaimView:
    rows = sorted(found, key=lambda row: (-_reach(row).engagement, -row["confidence"], row["url"] or ""))
    debunks = [row for row in rows if row["stance"] == Stance.DEBUNKING]
    others = [row for row in rows if row["stance"] != Stance.DEBUNKING]
    shown = _without_copies(others)[:_POSTS_SHOWN]
    return ClaimView(
        claim=fact["claim"], language=fact["language"], verdict=Verdict(fact["verdict"]),
        rating_given=fact["rating_given"], publisher=fact["publisher"], url=fact["url"],
        published_at=fact["published_at"], why_watched=fact["why"], total_posts=fact["total_posts"],
        new_by_stance=Counter(Stance(row["stance"]) for row in rows),
        since_by_stance=Counter(Stance(row["stance"]) for row in rows if row["created_at"] >= since),
        reach=_total_reach(others),
        posts_per_day=fill_days({row["day"]: row["posts"] for row in days}, last=last_day),
        posts=shown, more_posts=len(others) - sum(1 + post.copies for post in shown),
        debunks=tuple(map(_post, debunks[:_DEBUNKS_SHOWN])),
        queries=tuple(QueryView(query["words"], query["posts"]) for query in queries[:_QUERIES_SHOWN]),
        more_queries=max(0, len(queries) - _QUERIES_SHOWN),
    )  # fmt: skip


def _without_copies(rows: Rows) -> tuple[PostView, ...]:
    """The posts in order, of each cluster of near-duplicates the first one with the number of the others."""
    clusters: dict[int, Rows] = defaultdict(list)
    for row in rows:
        clusters[row["cluster"] or -row["post_id"]].append(row)
    return tuple(replace(_post(first), copies=len(copies)) for first, *copies in clusters.values())


def _quoted(row: dict[str, Any], service: Service) -> dict[str, Any]:
    """The row with as much of its post as its platform lets a mail quote; of a connector that is gone, the least."""
    known = service.connectors.get(row["connector"] or "")
    allowed = known.policy.quote_characters if known else _STRICTEST_QUOTE if row["connector"] else None
    return row | {"text": shorten(row["text"], _QUOTE if allowed is None else min(allowed, _QUOTE))}


def _post(row: dict[str, Any]) -> PostView:
    return PostView(
        text=row["text"], url=row["url"], platform=row["platform"], created_at=row["created_at"],
        language=row["language"], reach=_reach(row),
        confidence=row["confidence"], stance=Stance(row["stance"]), reason=MatchReason(row["reason"]),
        evidence=row["evidence"], found_by=row["found_by"],
    )  # fmt: skip


def _reach(row: dict[str, Any]) -> Reach:
    return Reach(row["likes"], row["reposts"], row["replies"], row["views"])


def _total_reach(rows: Rows) -> Reach:
    """Sums of what is known; None where no post says."""

    def total(values: list[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    reaches = [_reach(row) for row in rows]
    return Reach(
        total([r.likes for r in reaches]), total([r.reposts for r in reaches]), total([r.replies for r in reaches]),
        total([r.views for r in reaches]),
    )  # fmt: skip


def _totals(found: Rows, quiet: Rows, work: dict[str, Any], *, since: datetime) -> Totals:
    debunking = {row["post_id"] for row in found if row["stance"] == Stance.DEBUNKING}
    others = {row["post_id"]: row["created_at"] for row in found if row["stance"] in _REPEATING}
    posted_since = sum(created_at >= since for created_at in others.values())
    watched = len(quiet) + len({row["fact_check_id"] for row in found})
    return Totals(len(others), len(debunking), watched, posted_since, work["searches"], work["posts_read"])


def _waiting(work: dict[str, Any]) -> Iterable[str]:
    """A day without searches is a failure only where a claim was due for one."""
    if not work["searches"] and work["overdue"]:
        waiting = wording.count(work["overdue"], "claim has", "claims have")
        yield f"No search was carried out, though {waiting} waited for one: see `claimwatch doctor`."


def _failures(failed: Rows, zone: ZoneInfo) -> Iterable[str]:
    """Failures in words: a search that was not carried out, or not wholly, is never "no posts"."""
    for row in failed:
        how = "searched incompletely" if row["outcome"] == "found" else "not searched as planned"
        count = wording.count(row["searches"], "search", "searches")
        when = wording.span(row["first"], row["last"], zone)
        yield f"{row['connector']} was {how} ({count}, {when}): {row['detail']}"


def _local_day(moment: datetime, zone: str) -> date:
    return moment.astimezone(ZoneInfo(zone)).date()
