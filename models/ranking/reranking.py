"""Rankers that look at a post's best fact-checks by another ranker once more, one by one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from models.ranking.protocol import Ranker

DEPTH = 5  # of the other ranker's best, as in generative matching for 2021
# Chosen on dev for the language model, where the blend gains by any weight from 4 to 8 and nothing by asking about more
# posts.
_LEAD = 2.0  # of the best over the next, in the blend's strength: above, it is sure
_WEIGHT = 5.0  # of a nat a token

Score = Callable[[str, Sequence[FactCheck]], NDArray[np.float64]]  # of each fact-check for a post


@dataclass(frozen=True, slots=True)
class Reranker:
    """Implements Ranker: the `DEPTH` best of another by their scores, the rest behind them as the other has it."""

    base: Ranker
    score_of: Score
    name: str

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        scores = self.base.score(posts, candidates)
        for post, row in zip(posts, scores, strict=True):
            best = np.argsort(-row, kind="stable")[:DEPTH]
            rest = np.setdiff1d(np.arange(len(row)), best)
            highest_of_rest = row[rest].max(initial=0.0)
            row[best] = self.score_of(post, [candidates[number] for number in best])
            row[rest] += row[best].min(initial=0.0) - highest_of_rest - 1
        return scores


@dataclass(frozen=True, slots=True)
class Cascade:
    """Implements Ranker: as another ranks, but of the posts whose best it is not sure of the `DEPTH` best by its score
    and that of the costly one together."""

    base: Ranker
    score_of: Score
    name: str = "cascade"

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        scores = self.base.score(posts, candidates)
        for post, row in zip(posts, scores, strict=True):
            best = np.argsort(-row, kind="stable")[:DEPTH]
            if len(best) > 1 and row[best[0]] - row[best[1]] < _LEAD:
                found = self.score_of(post, [candidates[number] for number in best])
                row[best] += _WEIGHT * (found - found.min())  # none falls behind those that were not asked
        return scores
