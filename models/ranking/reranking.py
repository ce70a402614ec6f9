"""A post's best fact-checks by one ranker, ranked anew by a costlier model alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from models.ranking.protocol import Ranker
from models.ranking.second_opinion import DEPTH, Score


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
