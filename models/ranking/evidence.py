"""What speaks for each candidate fact-check of a post: the numbers that a confidence is made of."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from models.ranking.bm25 import FieldSettings, index_fact_checks
from models.ranking.encoder import TextEncoder
from models.ranking.fact_check_text import embedding_text
from models.ranking.late_vectors import LateVectors
from models.ranking.overlap import WordOverlap
from models.ranking.post_words import Mode, PostWords
from models.retrieval.analyser import ENGLISH
from models.retrieval.fusion import COSINE_WEIGHT, Candidates, best_candidates

# bm25: in units of the rarest word's worth. cosine: claim and post; statement: claim and the post without its
# signature; title: title and post. coverage, shared: `WordOverlap`. companion: claim and post by a second encoder, 0
# where there is none.
FEATURES = ("bm25", "cosine", "statement", "title", "coverage", "shared", "companion")
# What counts. All where the post is in English; words alone where the encoder does not know its language; meaning alone
# where it does, since the fact-checks may be in another.
MODES: Mapping[Mode, frozenset[str]] = {
    "full": frozenset(FEATURES),
    "lexical": frozenset({"coverage", "shared"}),
    "semantic": frozenset({"cosine", "statement", "title"}),
}
CANDIDATES = 16  # of one post: on CheckThat! 2022 train the right one is among them 97.5 times of 100, of 8 96.1
SMALL = 45  # fact-checks of a young collection, the smallest that confidences are fitted on
SAME_CLAIM = 0.85  # cosine of two fact-checks from which they are taken to check one claim
_CHUNK = 64  # posts a matrix product: 64 rows over 14,000 fact-checks are 4 MB


@dataclass(frozen=True, slots=True)
class Evidence:
    """`features` (candidates, FEATURES). `rivals` (candidates, candidates): which candidates contest each other; those
    that check the same claim do not, since both can be right."""

    candidates: Candidates
    features: NDArray[np.float32]
    rivals: NDArray[np.bool_]


class EvidenceFinder:
    """Compares posts with all of the fact-checks; vectors (fact-checks, dim) of unit length, or zeros where unknown.

    `titles` (fact-checks, dim) where they are embedded already; `companion` embeds the claims a second time, where the
    posts are, and `companions` where that is done already.
    """

    def __init__(
        self,
        fact_checks: Sequence[FactCheck],
        vectors: NDArray[np.float32],
        encoder: TextEncoder,
        *,
        titles: NDArray[np.float32] | None = None,
        companion: TextEncoder | None = None,
        companions: NDArray[np.float32] | None = None,
        settings: FieldSettings | None = None,
    ) -> None:
        if len(fact_checks) != len(vectors):
            raise ValueError(f"{len(vectors)} vectors for {len(fact_checks)} fact-checks")
        self._vectors = vectors
        self._titles = _titles(fact_checks, vectors, encoder, titles)
        self._companions = _companions(fact_checks, companion, companions) if companion else None
        self._index = index_fact_checks(fact_checks, settings)
        self._overlap = WordOverlap(fact_checks)
        # What BM25 gives for a word that a single text holds: else a score would mean less in a small collection. One
        # smaller than any that was learned from, where every word is rare, counts as one of that size.
        self._rarest = math.log(1 + (max(len(fact_checks), SMALL) - 0.5) / 1.5)

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
            left_out = without[start : start + _CHUNK] if without else [frozenset[int]()] * len(chunk)
            cosines = np.stack([post.vector for post in chunk]) @ self._vectors.T  # (posts, fact-checks)
            best = [self._retrieve(*of_post, k) for of_post in zip(chunk, cosines, left_out, strict=True)]
            self._titles.prepare([of.numbers for of, post in zip(best, chunk, strict=True) if post.mode != "lexical"])
            if self._companions:
                known = [post.companion is not None for post in chunk]
                self._companions.prepare([of.numbers for of, both in zip(best, known, strict=True) if both])
            found += [self._compare(post, candidates) for post, candidates in zip(chunk, best, strict=True)]
        return found

    def _retrieve(self, post: PostWords, cosines: NDArray[np.float32], left_out: Set[int], k: int) -> Candidates:
        # Of words in two languages those alike are chance.
        bm25 = self._index.scores("" if post.mode == "semantic" else post.text)
        bm25[list(left_out)], cosines[list(left_out)] = 0, -1
        weight = 0.0 if post.mode == "lexical" else COSINE_WEIGHT
        return best_candidates(bm25, cosines, min(k, len(bm25) - len(left_out)), cosine_weight=weight)

    def _compare(self, post: PostWords, best: Candidates) -> Evidence:
        vectors = self._vectors[best.numbers]
        titles = vectors if post.mode == "lexical" else self._titles.of(best.numbers)
        tokens = frozenset(ENGLISH(post.text))
        overlaps = [self._overlap.measure(tokens, int(number)) for number in best.numbers]
        columns = {
            "bm25": best.bm25 / self._rarest,
            "cosine": best.cosine,
            "statement": vectors @ post.statement,
            "title": titles @ post.vector,
            "coverage": [overlap.coverage for overlap in overlaps],
            "shared": [overlap.shared for overlap in overlaps],
            "companion": self._by_companion(post, best.numbers),
        }
        features = np.array([columns[name] for name in FEATURES], dtype=np.float32).T  # (candidates, FEATURES)
        rivals = vectors @ vectors.T < SAME_CLAIM
        np.fill_diagonal(rivals, val=False)
        return Evidence(best, features, rivals)

    def _by_companion(self, post: PostWords, numbers: NDArray[np.intp]) -> NDArray[np.float32]:
        if self._companions is None or post.companion is None:
            return np.zeros(len(numbers), dtype=np.float32)
        cosines: NDArray[np.float32] = self._companions.of(numbers) @ post.companion
        return cosines


def _titles(
    facts: Sequence[FactCheck], claims: NDArray[np.float32], encoder: TextEncoder, made: NDArray[np.float32] | None
) -> LateVectors:
    """One without a title has the vector of its claim."""
    texts = [fact.title for fact in facts]
    if made is not None:
        return LateVectors(texts, encoder, made, np.ones(len(texts), dtype=np.bool_))
    return LateVectors(texts, encoder, claims.copy(), np.array([not text for text in texts], dtype=np.bool_))


def _companions(facts: Sequence[FactCheck], encoder: TextEncoder, made: NDArray[np.float32] | None) -> LateVectors:
    texts = [embedding_text(fact.claim, fact.title) for fact in facts]
    known = np.full(len(texts), made is not None)
    return LateVectors(texts, encoder, np.zeros((len(texts), encoder.dim), np.float32) if made is None else made, known)


def _nothing() -> Evidence:
    none = np.zeros(0, dtype=np.float32)
    empty = Candidates(np.zeros(0, dtype=np.intp), none, none, none)
    return Evidence(empty, np.zeros((0, len(FEATURES)), dtype=np.float32), np.zeros((0, 0), dtype=np.bool_))
