"""A fact-check: a claim, what a publisher found about it, and where."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.ids import FactCheckId


class Verdict(StrEnum):
    """A publisher's rating in our words. Only FALSE and MISLEADING are watched unless a subscription asks for more."""

    FALSE = "false"
    MISLEADING = "misleading"
    MIXED = "mixed"
    TRUE = "true"
    SATIRE = "satire"
    UNKNOWN = "unknown"


DEBUNKED = frozenset({Verdict.FALSE, Verdict.MISLEADING})


@dataclass(frozen=True, slots=True)
class FactCheck:
    """A fact-check as the store and the models see it; `key` is its canonical URL, or `source:id` where it has none."""

    id: FactCheckId
    key: str
    claim: str
    title: str
    body: str
    url: str | None
    publisher: str
    language: str
    verdict: Verdict
    rating_given: str
    published_at: datetime | None


@dataclass(frozen=True, slots=True)
class Claim:
    """What is searched for."""

    fact_check_id: FactCheckId
    text: str
    language: str
