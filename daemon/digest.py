"""Makes a subscription's digest: the matches it was not mailed yet, frozen together with the mails that carry them."""

import hashlib
import logging
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import TypeVar
from zoneinfo import ZoneInfo

import psycopg

from daemon.rewriting_gain import Gain, gains
from daemon.schedule import next_local_time
from daemon.service import Service
from daemon.store import digest_rows, mailing, searches
from daemon.store.digest_rows import ClaimFacts, DayCount, FoundMatch, FruitfulQuery, QuietWatch, WorkDone, YieldOfArm
from daemon.store.mailing import FrozenDigest, Subscription
from daemon.store.searches import Trouble
from domain.errors import BadInput
from domain.fact_check import Verdict
from domain.match import MatchReason, Stance
from domain.post import Reach
from domain.query import Arm
from domain.text import one_line, shorten
from models.rewriting.words import words
from reports import wording
from reports.digest import render_digest
from reports.mail import Attachment, build_message, sender_mailbox, serialise
from reports.table import MatchRow, write_table
from reports.view import (
    SPARKLINE_DAYS,
    ArmView,
    ClaimView,
    Comparison,
    DigestView,
    PostView,
    QueryView,
    QuietClaim,
    Rewording,
    Totals,
    fill_days,
)

logger = logging.getLogger(__name__)

_POSTS_SHOWN = 3  # a claim
_DEBUNKS_SHOWN = 2  # a claim
_QUERIES_SHOWN = 2  # a claim
_QUIET_SHOWN = 10  # claims
_QUOTE = 280  # characters of a post
_STRICTEST_QUOTE = 140
_BEGINNING = 40  # characters by which a passage is known to be how its post begins
_SMALL_WORD = 3  # letters
_LATE = timedelta(hours=1)
_REPEATING = (Stance.SPREADING, Stance.UNJUDGED)

OfClaim = TypeVar("OfClaim", FoundMatch, DayCount, FruitfulQuery)


@dataclass(frozen=True, slots=True)
class Draft:
    """A digest that is not frozen yet, with its matches."""

    view: DigestView
    found: Sequence[FoundMatch]

    @property
    def worth_sending(self) -> bool:
        return bool(self.view.claims or self.view.notices)

    @property
    def posts(self) -> int:
        """New posts, each once."""
        return len({match.post_id for match in self.found})


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
    mailing.insert_digest(conn, values, matches=[match.match_id for match in draft.found], mails=mails, now=now)


def _message_id(subscription: Subscription, recipient: str, sender: str) -> str:
    """The same for the same digest and recipient, unlike any other (RFC 5322 section 3.6.4)."""
    who = hashlib.sha256(recipient.encode()).hexdigest()[:12]
    return f"<{subscription.id}.{subscription.next_due:%Y%m%dT%H%M%S}.{who}@{sender_mailbox(sender).domain}>"


def _attachments(draft: Draft) -> tuple[Attachment, ...]:
    if not draft.found:
        return ()
    table = write_table(
        MatchRow(
            claim=match.claim, fact_check_url=match.fact_check_url, post_url=match.url, platform=match.platform,
            platform_id=match.platform_id, created_at=match.created_at, stance=Stance(match.stance),
            confidence=match.confidence, sentence=match.evidence, query=match.found_by or "", reach=match.reach,
        )
        for match in draft.found
    )  # fmt: skip
    return (Attachment(f"matches-{draft.view.date:%Y-%m-%d}.csv", table),)


def _draft(conn: psycopg.Connection, service: Service, subscription: Subscription, now: datetime) -> Draft:
    whole = digest_rows.new_matches(conn, subscription, until=now)
    queries = digest_rows.recorded_queries(conn, {match.query_id for match in whole if match.query_id})
    found, gained = [_quoted(match, service) for match in whole], gains(whole, queries)
    since = min(_period_start(conn, subscription, found), now)
    claims = _claims(conn, subscription, found, gained, since=since, now=now)
    quiet = digest_rows.quiet_watches(conn, subscription, besides={match.fact_check_id for match in found})
    work = digest_rows.work_done(conn, since=since, until=now)
    failed = searches.failures(conn, since=since, until=now)
    view = DigestView(
        subscription=subscription.name, date=_local_day(now, subscription.zone), zone=subscription.zone,
        period_from=since, period_to=now, generated_at=now,
        totals=_totals(found, quiet, work, since=since), claims=claims,
        notices=(*_waiting(work), *_failures(failed, ZoneInfo(subscription.zone))),
        quiet=tuple(QuietClaim(watch.claim, watch.url, watch.created_at) for watch in quiet[:_QUIET_SHOWN]),
        more_quiet=max(0, len(quiet) - _QUIET_SHOWN), late=now - subscription.next_due > _LATE,
        comparison=_comparison(digest_rows.arm_yields(conn, subscription, since=since, until=now)),
    )  # fmt: skip
    return Draft(view, found)


def _period_start(conn: psycopg.Connection, subscription: Subscription, found: Sequence[FoundMatch]) -> datetime:
    """The end of the last digest; or earlier, where matches from before the subscription come with its first one."""
    moments = [match.matched_at for match in found]
    return min([mailing.last_period_end(conn, subscription.id) or subscription.created_at, *moments])


def _claims(
    conn: psycopg.Connection, subscription: Subscription, found: Sequence[FoundMatch], gained: Mapping[int, Gain], *,
    since: datetime, now: datetime,
) -> tuple[ClaimView, ...]:  # fmt: skip
    """One view a claim, the one with most new posts that were not seen to debunk it first."""
    posts = _by_claim(found)
    last_day = _local_day(now, subscription.zone)
    first_bar = _first_bar(last_day, subscription.zone)
    days = _by_claim(digest_rows.posts_per_day(conn, subscription, posts, since=first_bar))
    queries = _by_claim(digest_rows.claim_queries(conn, [match.match_id for match in found]))
    views = [
        _claim(facts, posts[facts.fact_check_id], days[facts.fact_check_id], queries[facts.fact_check_id],
               gained, since=since, last_day=last_day)
        for facts in digest_rows.claim_facts(conn, subscription, posts)
    ]  # fmt: skip
    return tuple(sorted(views, key=lambda view: (-view.repeating, view.claim)))


def _first_bar(last_day: date, zone: str) -> datetime:
    """Midnight at which the first day of the sparkline begins."""
    return datetime.combine(last_day - timedelta(days=SPARKLINE_DAYS - 1), time(), ZoneInfo(zone))


def _by_claim(rows: Iterable[OfClaim]) -> dict[int, list[OfClaim]]:
    grouped: dict[int, list[OfClaim]] = defaultdict(list)
    for row in rows:
        grouped[row.fact_check_id].append(row)
    return grouped


def _claim(
    facts: ClaimFacts, found: Sequence[FoundMatch], days: Sequence[DayCount], queries: Sequence[FruitfulQuery],
    gained: Mapping[int, Gain], *, since: datetime, last_day: date,
) -> ClaimView:  # fmt: skip
    matches = sorted(found, key=lambda match: (-match.reach.engagement, -match.confidence, match.url or ""))
    debunks = [match for match in matches if match.stance == Stance.DEBUNKING]
    others = [match for match in matches if match.stance != Stance.DEBUNKING]
    clusters = _clusters(others)[:_POSTS_SHOWN]
    told: set[int] = set()
    shown = tuple(replace(_post(first, gained, told), copies=len(copies)) for first, *copies in clusters)
    would_find = [gain.claim_finds_it for match in matches if (gain := gained.get(match.match_id))]
    return ClaimView(
        claim=facts.claim, language=facts.language, verdict=Verdict(facts.verdict),
        rating_given=facts.rating_given, publisher=facts.publisher, url=facts.url,
        published_at=facts.published_at, why_watched=facts.why, total_posts=facts.total_posts,
        new_by_stance=Counter(Stance(match.stance) for match in matches),
        since_by_stance=Counter(Stance(match.stance) for match in matches if match.created_at >= since),
        reach=_total_reach([match.reach for match in others]),
        posts_per_day=fill_days({day.day: day.posts for day in days}, last=last_day),
        posts=shown, more_posts=len(others) - sum(1 + post.copies for post in shown),
        debunks=tuple(_post(match, gained, told) for match in debunks[:_DEBUNKS_SHOWN]),
        queries=tuple(QueryView(query.words, query.posts) for query in queries[:_QUERIES_SHOWN]),
        more_queries=max(0, len(queries) - _QUERIES_SHOWN),
        edited_found=len(would_find) - would_find.count(None), claim_would_find=would_find.count(True),
    )  # fmt: skip


def _clusters(matches: Iterable[FoundMatch]) -> list[list[FoundMatch]]:
    """The posts in order, near-duplicates with the first of them."""
    clusters: dict[int, list[FoundMatch]] = defaultdict(list)
    for match in matches:
        clusters[match.cluster or -match.post_id].append(match)
    return list(clusters.values())


def _quoted(match: FoundMatch, service: Service) -> FoundMatch:
    """The match with as much of its post as its platform lets a mail quote; of a connector that is gone, the least. A
    long post is quoted from where it says what the claim says."""
    known = service.connectors.get(match.connector or "")
    allowed = known.policy.quote_characters if known else _STRICTEST_QUOTE if match.connector else None
    limit = _QUOTE if allowed is None else min(allowed, _QUOTE)
    begins_so = one_line(match.text).startswith(match.passage[:_BEGINNING])  # also where there is no passage
    said = match.text if begins_so else f"… {_from_claim(match.passage, match.claim, limit)}"
    return replace(match, text=shorten(said, limit))


def _from_claim(passage: str, claim: str, limit: int) -> str:
    """The passage from the word on from which `limit` characters hold most of the claim's words."""
    wanted = {word for word in words(claim.lower()) if len(word) > _SMALL_WORD}
    starts = [found.start() for found in re.finditer(r"\S+", passage)]
    return passage[max(starts, key=lambda at: len(wanted.intersection(words(passage[at : at + limit].lower())))) :]


def _post(match: FoundMatch, gained: Mapping[int, Gain], told: set[int]) -> PostView:
    """`told`: queries whose edits an earlier post of the claim tells, which is enough; this one's joins them."""
    gain = gained.get(match.match_id)
    is_news = gain is not None and gain.query_id not in told
    if gain:
        told.add(gain.query_id)
    return PostView(
        text=match.text, url=match.url, platform=match.platform, created_at=match.created_at,
        language=match.language, reach=match.reach,
        confidence=match.confidence, stance=Stance(match.stance), reason=MatchReason(match.reason),
        evidence=match.evidence, found_by=match.found_by,
        rewording=gain.rewording if gain and is_news else Rewording(),
        beyond_claim=gain is not None and gain.claim_finds_it is False,
    )  # fmt: skip


def _total_reach(reaches: Sequence[Reach]) -> Reach:
    """Sums of what is known; None where no post says."""

    def total(values: list[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    return Reach(
        total([r.likes for r in reaches]), total([r.reposts for r in reaches]), total([r.replies for r in reaches]),
        total([r.views for r in reaches]),
    )  # fmt: skip


def _totals(found: Sequence[FoundMatch], quiet: Sequence[QuietWatch], work: WorkDone, *, since: datetime) -> Totals:
    debunking = {match.post_id for match in found if match.stance == Stance.DEBUNKING}
    others = {match.post_id: match.created_at for match in found if match.stance in _REPEATING}
    posted_since = sum(created_at >= since for created_at in others.values())
    watched = len(quiet) + len({match.fact_check_id for match in found})
    return Totals(len(others), len(debunking), watched, posted_since, work.searches, work.posts_read)


def _comparison(yields: Iterable[YieldOfArm]) -> Comparison | None:
    """None unless both arms read posts."""
    arms = {arm.arm: ArmView(arm.queries, arm.posts_read, arm.matches) for arm in yields}
    if arms.keys() != {Arm.LEARNED, Arm.PLAIN}:
        return None
    return Comparison(arms[Arm.LEARNED], arms[Arm.PLAIN])


def _waiting(work: WorkDone) -> Iterable[str]:
    """A day without searches is a failure only where a claim was due for one."""
    if not work.searches and work.overdue:
        waiting = wording.count(work.overdue, "claim has", "claims have")
        yield f"No search was carried out, though {waiting} waited for one: see `claimwatch doctor`."


def _failures(failed: Iterable[Trouble], zone: ZoneInfo) -> Iterable[str]:
    """Failures in words: a search that was not carried out, or not wholly, is never "no posts"."""
    for trouble in failed:
        how = "searched incompletely" if trouble.outcome == "found" else "not searched as planned"
        count = wording.count(trouble.searches, "search", "searches")
        when = wording.span(trouble.first, trouble.last, zone)
        yield f"{trouble.connector} was {how} ({count}, {when}): {trouble.detail}"


def _local_day(moment: datetime, zone: str) -> date:
    return moment.astimezone(ZoneInfo(zone)).date()
