"""Keeps a share of the queries for a plain policy, so that a report can say what the learned one gains."""

from dataclasses import dataclass
from hashlib import sha256

from domain.fact_check import Claim
from domain.query import Arm, Query
from models.rewriting.policy import Count, History, Rewriter, searches_of


@dataclass(frozen=True, slots=True)
class WithControl:
    """Of the queries that are asked, at most `queries` a claim, `share` are the plain policy's on average; which claims
    get one more of them follows from their text. They come last, and are all there is where the learned policy has
    nothing to ask."""

    learned: Rewriter
    plain: Rewriter
    queries: int
    share: float = 0.1

    @property
    def name(self) -> str:
        return self.learned.name

    def next(self, claim: Claim, history: History) -> Query | Count | None:
        by_policy = [result.query for result in searches_of(history) if result.query.arm is not Arm.PINNED]
        learned = sum(query.arm is Arm.LEARNED for query in by_policy)
        most = self.queries - self._controls(claim, self.queries)
        if learned < most and len(by_policy) == learned and (step := self.learned.next(claim, history)):
            return step
        allowed = self._controls(claim, self.queries if learned == most else learned) if learned else self.queries
        return self.plain.next(claim, history) if len(by_policy) - learned < allowed else None

    def _controls(self, claim: Claim, learned: int) -> int:
        """How many plain queries the claim gets beside at most so many learned ones."""
        drawn = int.from_bytes(sha256(claim.text.encode(errors="replace")).digest()[:4], "big") / 2**32
        beside = learned * self.share / (1 - self.share) if self.share < 1 else self.queries
        return int(min(self.share * self.queries, beside) + drawn)
