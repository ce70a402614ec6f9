"""Ranks by BM25 and sentence embeddings together."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from models.ranking.bm25 import BM25Ranker
from models.ranking.encoder import EncoderRanker, TextEncoder
from models.retrieval.fusion import COSINE_WEIGHT


class FusionRanker:
    """Implements Ranker. BM25 is taken relative to the best of the whole collection, whatever the candidates are."""

    name = "fusion"

    def __init__(
        self,
        fact_checks: Sequence[FactCheck],
        vectors: NDArray[np.float32],
        encoder: TextEncoder,
        *,
        cosine_weight: float = COSINE_WEIGHT,
    ) -> None:
        self._fact_checks = fact_checks
        self._lexical = BM25Ranker(fact_checks)
        self._dense = EncoderRanker(encoder, fact_checks, vectors)
        self._cosine_weight = cosine_weight

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        bm25 = self._lexical.score(posts, self._fact_checks)
        greatest = bm25.max(axis=1, keepdims=True, initial=0)
        chosen = bm25 if candidates is self._fact_checks else self._lexical.score(posts, candidates)
        relative = chosen / np.where(greatest > 0, greatest, 1)
        scores: NDArray[np.float32] = relative + np.float32(self._cosine_weight) * self._dense.score(posts, candidates)
        return scores
