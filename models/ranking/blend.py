"""Ranks by words, sentence embeddings and, if asked, dates together, as the product does."""

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from models.ranking.calibration import Calibration
from models.ranking.encoder import TextEncoder
from models.ranking.evidence import CANDIDATES, EvidenceFinder
from models.ranking.fusion import FusionRanker
from models.ranking.post_words import embed_posts
from models.ranking.second_opinion import SecondOpinion
from models.retrieval.fusion import COSINE_WEIGHT
from models.retrieval.post_text import posted_on

_GREATEST_FUSED = 1 + COSINE_WEIGHT
_DATED_CANDIDATES = 64  # a date lifts what words put far down: on train, out of fold, MAP@1 is .937 beside .932 of 16


class BlendRanker:
    """Implements Ranker. The collection's best by fusion are ranked by strength; the others follow in fusion's order.

    With `dates` the day that stands at the end of a post (`posted_on`) and the day of each fact-check count in full,
    which the product does not do.
    """

    def __init__(
        self,
        fact_checks: Sequence[FactCheck],
        vectors: NDArray[np.float32],
        encoder: TextEncoder,
        calibration: Calibration,
        *,
        titles: NDArray[np.float32] | None = None,
        companion: TextEncoder | None = None,
        companions: NDArray[np.float32] | None = None,
        dates: bool = False,
    ) -> None:
        self.name = "blend_dates" if dates else "blend"
        self._fact_checks = fact_checks
        self._fusion = FusionRanker(fact_checks, vectors, encoder)
        self._finder = EvidenceFinder(
            fact_checks, vectors, encoder, titles=titles, companion=companion, companions=companions
        )
        self._encode = encoder.encode
        self._companion = companion.encode if companion else None
        self._calibration = calibration
        self._dates = dates
        self._opinion: SecondOpinion | None = None

    def with_opinion(self, opinion: SecondOpinion) -> "BlendRanker":
        """The same, but that posts of which it is unsure are ranked by the opinion too."""
        ranker = copy(self)
        ranker.name = self.name.replace("blend", "cascade")
        ranker._opinion = opinion
        return ranker

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        scores = self._fusion.score(posts, candidates)
        columns = {candidate.key: column for column, candidate in enumerate(candidates)}
        for row, best in enumerate(self._strongest(posts)):
            scores[row] += min(best.values(), default=0.0) - _GREATEST_FUSED
            for number, strength in best.items():
                column = columns.get(self._fact_checks[number].key)
                if column is not None:
                    scores[row, column] = strength
        return scores

    def _strongest(self, posts: Sequence[str]) -> list[dict[int, float]]:
        """Strength of the best candidates of each post, by number; of a long post that of their best windows."""
        windows = embed_posts(posts, self._encode, modes=["full"] * len(posts), companion=self._companion)
        rows = [(row, words.passage or posts[row]) for row, of_post in enumerate(windows) for words in of_post]
        strongest: list[dict[int, float]] = [{} for _ in posts]
        words = [words for of_post in windows for words in of_post]
        found = self._finder.find(words, k=_DATED_CANDIDATES if self._dates else CANDIDATES)
        for (row, text), evidence in zip(rows, found, strict=True):
            numbers = evidence.candidates.numbers.tolist()
            prior = self._prior(posts[row], numbers)
            strengths = self._calibration.strengths(evidence, prior=prior)
            if self._opinion:
                facts = [self._fact_checks[number] for number in numbers]
                strengths = self._opinion.reconsider(strengths, evidence.rivals, text, facts)
            for number, strength in zip(numbers, strengths.tolist(), strict=True):
                strongest[row][number] = max(strength, strongest[row].get(number, -np.inf))
        return strongest

    def _prior(self, post: str, numbers: Sequence[int]) -> NDArray[np.float64] | float:
        if not self._dates:
            return 0.0
        return self._calibration.dates.full(posted_on(post), [self._fact_checks[n].published_at for n in numbers])
