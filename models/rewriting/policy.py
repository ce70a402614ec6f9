"""The seam of rewriting: which query next, given what the earlier ones brought."""

from dataclasses import dataclass
from typing import Protocol

from domain.fact_check import Claim
from domain.query import Query


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What one query brought. `confidences` are the matcher's for this claim, one per post read."""

    query: Query
    posts_read: int
    new_posts: int
    confidences: tuple[float, ...] = ()
    carried_out: bool = True  # False: rate limited, out of budget, not permitted or unavailable


@dataclass(frozen=True, slots=True)
class Count:
    """Asks for how many posts a query would find, before any is read; only where a platform tells it for nothing."""

    query: Query


@dataclass(frozen=True, slots=True)
class CountResult:
    """None: the platform could not tell."""

    query: Query
    posts: int | None


History = tuple[QueryResult | CountResult, ...]


class Rewriter(Protocol):
    """Pure: same claim and history, same answer; no I/O. None means stop. A claim without words gives None at once."""

    @property
    def name(self) -> str: ...

    def next(self, claim: Claim, history: History) -> Query | Count | None: ...


def searches_of(history: History) -> list[QueryResult]:
    """The part of a history that cost something."""
    return [result for result in history if isinstance(result, QueryResult)]
