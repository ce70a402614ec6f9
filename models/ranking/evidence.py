"""What speaks for each candidate fact-check of a post: the numbers that a confidence is made of."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from models.ranking.bm25 import index_fact_checks
from models.ranking.overlap import WordOverlap
from models.retrieval.analyser import ENGLISH
from models.retrieval.fusion import COSINE_WEIGHT, Candidates, best_candidates

FEATURES = ("cosine", "coverage", "shared")
CANDIDATES = 8  # of one post: on CheckThat! 2022 train the right one is among them 97 times of 100
SAME_CLAIM = 0.85  # cosine of two fact-checks from which they are taken to check one claim
_CHUNK = 64  # posts a matrix product: 64 rows over 14,000 fact-checks are 4 MB


@dataclass(frozen=True, slots=True)
class PostWords:
    """A post as it is compared: cleaned text (or a window of it) and vector (dim,). `lexical`: the encoder does not
    know the post's language, so that only words count."""

    text: str
    vector: NDArray[np.float32]
    lexical: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """`features` (candidates, FEATURES). `rivals` (candidates, candidates): which candidates contest each other; those
    that check the same claim do not, since both can be right."""

    candidates: Candidates
    features: NDArray[np.float32]
    rivals: NDArray[np.bool_]


class EvidenceFinder:
    """Compares posts with all of the fact-checks; vectors (fact-checks, dim) of unit length, or zeros where unknown."""

    def __init__(self, fact_checks: Sequence[FactCheck], vectors: NDArray[np.float32]) -> None:
        if len(fact_checks) != len(vectors):
            raise ValueError(f"{len(vectors)} vectors for {len(fact_checks)} fact-checks")
        self._vectors = vectors
        self._index = index_fact_checks(fact_checks)
        self._overlap = WordOverlap(fact_checks)

    @property
    def dim(self) -> int:
        return int(self._vectors.shape[1])

    def find(
        self, posts: Sequence[PostWords], *, k: int = CANDIDATES, without: Sequence[Set[int]] | None = None
    ) -> list[Evidence]:
        """The k best candidates of each post with what speaks for them; `without` leaves fact-checks out, post by post,
        as if they were not there."""
        if not len(self._vectors):
            return [_nothing() for _ in posts]
        found: list[Evidence] = []
        for start in range(0, len(posts), _CHUNK):
            chunk = posts[start : start + _CHUNK]
            cosines = np.stack([post.vector for post in chunk]) @ self._vectors.T  # (posts, fact-checks)
            for row, post in enumerate(chunk):
                left_out = without[start + row] if without else frozenset()
                found.append(self._find(post, cosines[row], k, left_out))
        return found

    def _find(self, post: PostWords, cosines: NDArray[np.float32], k: int, left_out: Set[int]) -> Evidence:
        bm25 = self._index.scores(post.text)
        bm25[list(left_out)], cosines[list(left_out)] = 0, -1
        weight = 0.0 if post.lexical else COSINE_WEIGHT
        best = best_candidates(bm25, cosines, min(k, len(bm25) - len(left_out)), cosine_weight=weight)
        tokens = frozenset(ENGLISH(post.text))
        overlaps = [self._overlap.measure(tokens, int(number)) for number in best.numbers]
        features = [(c, o.coverage, o.shared) for c, o in zip(best.cosine, overlaps, strict=True)]
        vectors = self._vectors[best.numbers]
        rivals = vectors @ vectors.T < SAME_CLAIM
        np.fill_diagonal(rivals, val=False)
        return Evidence(best, np.array(features, dtype=np.float32).reshape(-1, len(FEATURES)), rivals)


def _nothing() -> Evidence:
    none = np.zeros(0, dtype=np.float32)
    empty = Candidates(np.zeros(0, dtype=np.intp), none, none, none)
    return Evidence(empty, np.zeros((0, len(FEATURES)), dtype=np.float32), np.zeros((0, 0), dtype=np.bool_))
