"""Ranks by BM25 over claim, title and body."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from models.ranking.fact_check_text import indexed_fields
from models.retrieval.bm25 import BM25Index, FieldedBM25
from models.retrieval.post_text import clean_post

# Chosen on the CheckThat! 2022 train split: MAP@5 .848; .843 with equal weights, .8455 with k1 1.2, b .6.
FIELD_WEIGHTS = (1.0, 1.0, 0.5)
K1, B = 0.8, 0.6


def index_fact_checks(fact_checks: Sequence[FactCheck]) -> FieldedBM25:
    """An index whose scores stand in the order of the fact-checks."""
    index = FieldedBM25(FIELD_WEIGHTS, k1=K1, b=B)
    index.add_fields(_numbers(fact_checks), [indexed_fields(fact_check) for fact_check in fact_checks])
    return index


class BM25Ranker:
    """Implements Ranker. Words count as rare or common by the collection; a candidate outside of it scores 0."""

    name = "bm25f"

    def __init__(self, fact_checks: Sequence[FactCheck]) -> None:
        self._index = index_fact_checks(fact_checks)
        self._columns = {fact_check.key: n for n, fact_check in enumerate(fact_checks)}

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        return chosen_columns([self._index.scores(clean_post(post)) for post in posts], self._columns, candidates)


class PlainBM25Ranker:
    """Implements Ranker: the customary baseline, all fields as one text against the raw post (k1 1.5, b .75)."""

    name = "bm25"

    def __init__(self, fact_checks: Sequence[FactCheck]) -> None:
        self._index = BM25Index()
        self._index.add(_numbers(fact_checks), [" ".join(indexed_fields(fact_check)) for fact_check in fact_checks])
        self._columns = {fact_check.key: n for n, fact_check in enumerate(fact_checks)}

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        return chosen_columns([self._index.scores(post) for post in posts], self._columns, candidates)


def chosen_columns(
    scores: Sequence[NDArray[np.float32]], columns: dict[str, int], candidates: Sequence[FactCheck]
) -> NDArray[np.float32]:
    """(posts, candidates) from (fact-checks,) for each post; 0 for a candidate that the collection lacks."""
    wanted = np.array([columns.get(candidate.key, -1) for candidate in candidates], dtype=np.intp)
    chosen = np.zeros((len(scores), len(candidates)), dtype=np.float32)
    for row, of_post in enumerate(scores):
        chosen[row, wanted >= 0] = of_post[wanted[wanted >= 0]]
    return chosen


def _numbers(fact_checks: Sequence[FactCheck]) -> list[str]:
    """Ids whose string order is the order of the fact-checks."""
    return [f"{number:09d}" for number in range(len(fact_checks))]
