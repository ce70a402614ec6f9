"""What a digest shows: frozen, complete, and already decided. Reports render it and look nothing up.

Moments are aware; counts are of what is new to the subscription unless their name says otherwise. A text may hold
anything a stranger wrote: the templates escape it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from domain.fact_check import Verdict
from domain.match import MatchReason, Stance
from domain.post import Reach

SPARKLINE_DAYS = 21


@dataclass(frozen=True, slots=True)
class Rewording:
    """How a query differs from its claim. Nothing where it does not."""

    left_out: tuple[str, ...] = ()  # words that say what the claim is about, in its order
    replaced: tuple[tuple[str, str], ...] = ()  # word of the claim, what stands for it
    added: tuple[str, ...] = ()
    raised: tuple[str, ...] = ()  # count for more than in the claim
    lowered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PostView:
    """A matched post."""

    text: str  # already cut to what the platform lets a mail quote
    url: str | None
    platform: str  # as people write it: "Bluesky"
    created_at: datetime
    language: str  # BCP 47; "und" if unknown
    reach: Reach
    confidence: float  # 0 to 1, calibrated: that the post is about this claim
    stance: Stance
    reason: MatchReason
    evidence: str = ""  # the sentence of the fact-check that matched best
    found_by: str | None = None  # the words of the query that brought it
    rewording: Rewording = Rewording()  # of that query, at the first of a claim's posts that it brought
    beyond_claim: bool = False  # whether the claim, sent as it is, would have missed it
    copies: int = 0  # further posts of nearly the same text

    @property
    def link(self) -> str | None:
        """The address if it is one that a reader can safely follow."""
        return _web_address(self.url)

    @property
    def shares_fact_check(self) -> bool:
        return self.reason is MatchReason.LINK


@dataclass(frozen=True, slots=True)
class QueryView:
    """A query and how many of the new posts it found."""

    words: str
    new_posts: int


@dataclass(frozen=True, slots=True)
class ArmView:
    """What the queries of an arm read, and how many of these posts are about the claim they were searched for."""

    queries: int
    posts_read: int  # more than 0
    matches: int

    @property
    def matches_in_100(self) -> float:
        return 100 * self.matches / self.posts_read


@dataclass(frozen=True, slots=True)
class Comparison:
    """Learned queries beside the plain ones that were asked to compare them with."""

    learned: ArmView
    plain: ArmView


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim with new posts, and the fact-check that answers it."""

    claim: str
    language: str
    verdict: Verdict
    rating_given: str
    publisher: str
    url: str | None
    published_at: datetime | None
    why_watched: str
    total_posts: int  # ever, the new ones included
    new_by_stance: Mapping[Stance, int]
    since_by_stance: Mapping[Stance, int]  # those made within the period: a search also finds older ones
    reach: Reach  # of the new posts together; None where no platform says
    posts_per_day: tuple[tuple[date, int], ...] = ()  # local days in order, without gaps: see `fill_days`
    posts: tuple[PostView, ...] = ()  # that repeat the claim, most seen first
    more_posts: int = 0  # that repeat the claim and are not shown
    debunks: tuple[PostView, ...] = ()  # most seen first
    queries: tuple[QueryView, ...] = ()  # those that a person pinned, then the most fruitful
    more_queries: int = 0
    edited_found: int = 0  # new posts by edited queries of which it is known whether the claim would have found them
    claim_would_find: int = 0  # of these: by the claim, sent as it is

    @property
    def new_posts(self) -> int:
        return sum(self.new_by_stance.values())

    @property
    def repeating(self) -> int:
        """New posts that repeat the claim as far as is known: nobody and nothing has said that they do not."""
        return self.spreading + self.unjudged

    @property
    def posted_since(self) -> int:
        """New posts that were made within the period."""
        return sum(self.since_by_stance.values())

    @property
    def repeating_since(self) -> int:
        """Posts that count as repeating and were made within the period."""
        return sum(self.since_by_stance.get(stance, 0) for stance in (Stance.SPREADING, Stance.UNJUDGED))

    @property
    def spreading(self) -> int:
        return self.new_by_stance.get(Stance.SPREADING, 0)

    @property
    def unjudged(self) -> int:
        return self.new_by_stance.get(Stance.UNJUDGED, 0)

    @property
    def debunking(self) -> int:
        return self.new_by_stance.get(Stance.DEBUNKING, 0)

    @property
    def tells_misses(self) -> bool:
        """Whether it is worth saying at a post that the claim would have missed it: not where it holds for all."""
        return self.claim_would_find > 0

    @property
    def first_time(self) -> bool:
        """Whether no post of this claim had been found before."""
        return 0 < self.new_posts == self.total_posts

    @property
    def link(self) -> str | None:
        return _web_address(self.url)


@dataclass(frozen=True, slots=True)
class QuietClaim:
    """A claim that is watched and has nothing new."""

    title: str
    url: str | None
    watched_since: datetime

    @property
    def link(self) -> str | None:
        return _web_address(self.url)


@dataclass(frozen=True, slots=True)
class Totals:
    """The period in numbers; a post that fits two claims counts once. None: not known."""

    repeating_posts: int
    debunking_posts: int
    watched_claims: int
    posted_since: int  # of the repeating ones, those made within the period
    searches: int | None = None
    posts_read: int | None = None


@dataclass(frozen=True, slots=True)
class DigestView:
    """One subscription's news of one period."""

    subscription: str
    date: date  # the local day it is for
    zone: str  # IANA name, in which all times are shown
    period_from: datetime
    period_to: datetime
    generated_at: datetime
    totals: Totals
    claims: tuple[ClaimView, ...] = ()  # most important first
    notices: tuple[str, ...] = ()  # failures and budgets in plain words, a sentence each
    quiet: tuple[QuietClaim, ...] = ()
    more_quiet: int = 0
    late: bool = False
    comparison: Comparison | None = None  # None: not both arms read posts

    @property
    def was_searched(self) -> bool:
        """False where nothing can be said: no search was carried out."""
        return self.totals.searches != 0

    @property
    def repeated_claims(self) -> int:
        return sum(1 for claim in self.claims if claim.repeating)

    @property
    def first_time_claims(self) -> int:
        return sum(1 for claim in self.claims if claim.first_time and claim.repeating)

    @property
    def tells_first_times(self) -> bool:
        """Whether it is worth saying at a claim: not where it holds for all of several."""
        return len(self.claims) == 1 or not all(claim.first_time for claim in self.claims)


def fill_days(counts: Mapping[date, int], *, last: date, days: int = SPARKLINE_DAYS) -> tuple[tuple[date, int], ...]:
    """The last `days` days up to `last` in order, 0 where `counts` has none."""
    every_day = (last - timedelta(days=back) for back in reversed(range(days)))
    return tuple((day, counts.get(day, 0)) for day in every_day)


def _web_address(url: str | None) -> str | None:
    """An address that opens a web page and nothing else, as one word that stays whole inside markup."""
    if not url or not re.fullmatch(r"(?i)https?://[^\s\x00-\x1f\x7f]+", url):
        return None
    return re.sub(r"[<>\"'`{}|\\^]", lambda char: f"%{ord(char[0]):02X}", url)
