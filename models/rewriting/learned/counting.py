"""The learned policy of platforms that say for nothing how many posts a query matches.

It asks for the counts of the queries that are most likely to be good ones, and searches with those that match few posts
of which one is likely to be sought. Where a query matches nothing, none of more words needs to be asked for. A platform
that turns out not to count is asked what one that never does is asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from domain.fact_check import Claim
from domain.query import Query
from models.rewriting.learned.boolean import LearnedBoolean
from models.rewriting.learned.outlook import SCALE, Foreseer, Outlook
from models.rewriting.learned.patterns import f_two
from models.rewriting.learned.volume import chance_of_fewer
from models.rewriting.policy import Count, CountResult, History, searches_of

MOST_COUNTS = 60  # a claim: free, but each takes a request
_FEW = 4  # other posts: a good query matches no more
_LEAST_WORTH = 0.02  # F2 expected of a query: below, it is not worth its posts
_EVEN = 1e-9  # keeps odds finite


@dataclass(frozen=True, slots=True)
class LearnedCounting:
    """`reads`: posts that one query may read; `most` queries a claim. English claims only."""

    foreseer: Foreseer
    most: int = 1
    reads: float = 100

    @property
    def name(self) -> str:
        return f"counting@{self.foreseer.retention.version}"

    def next(self, claim: Claim, history: History) -> Query | Count | None:
        outlook = self.foreseer.outlook(claim.text)
        if outlook is None or sum(result.query.policy == self.name for result in searches_of(history)) >= self.most:
            return None
        told = [result for result in history if isinstance(result, CountResult)]
        counts = {n: r.posts for r in told if r.posts is not None and (n := outlook.number(r.query)) is not None}
        if len(told) < MOST_COUNTS and len(counts) == len(told):
            if (number := self._to_count(outlook, counts)) is not None:
                return Count(self.foreseer.query(outlook, number, policy=self.name))
        if told and not counts:
            return LearnedBoolean(self.foreseer, self.most, self.reads).next(claim, history)
        number = self._best(outlook.after(history, self.reads), counts)
        return None if number is None else self.foreseer.query(outlook, number, policy=self.name)

    def _to_count(self, outlook: Outlook, counts: Mapping[int, int]) -> int | None:
        """The query that is the most likely to find a post that is sought among few others; None: none is left."""
        for number in (number for number, posts in counts.items() if not posts):
            outlook = outlook.without(number)  # nor does a post have them and more: no narrower query is likely now
        found = outlook.odds() @ outlook.space.finds
        likely = found * chance_of_fewer(outlook.foresight.background, _FEW / SCALE)
        likely[list(counts)] = 0.0
        best = int(np.argmax(likely))
        return best if likely[best] > 0 else None

    def _best(self, outlook: Outlook, counts: Mapping[int, int]) -> int | None:
        """The counted query of the most F2 expected that was not searched yet."""
        found = outlook.odds() @ outlook.space.finds
        worths = {
            number: self._worth(outlook, number, posts, float(found[number]))
            for number, posts in counts.items()
            if posts and number not in outlook.asked
        }
        best = max(worths, key=worths.__getitem__, default=None)
        return best if best is not None and worths[best] >= _LEAST_WORTH else None

    def _worth(self, outlook: Outlook, number: int, posts: int, found: float) -> float:
        odds = found / (1 - found + _EVEN) * self.foreseer.retention.told(outlook.foresight, number, posts)
        chance = min(1.0, self.reads / posts)
        return odds / (1 + odds) * float(f_two(np.array(chance), np.array(min(self.reads, float(posts)))))
