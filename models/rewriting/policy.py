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


History = tuple[QueryResult, ...]


class Rewriter(Protocol):
    """Pure: same claim and history, same answer; no I/O. None means stop. A claim without words gives None at once."""

    @property
    def name(self) -> str: ...

    def next(self, claim: Claim, history: History) -> Query | None: ...
