"""Ranks by the cosine of sentence embeddings."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from models.ranking.fact_check_text import embedding_text
from models.ranking.windows import split_windows
from models.retrieval.post_text import clean_post


class TextEncoder(Protocol):
    """Texts to vectors of unit length, (n, dim); zeros for a text without words."""

    @property
    def version(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]: ...


class PostEncoder(TextEncoder, Protocol):
    """Also says which languages it knows; None: about all that people post in."""

    @property
    def languages(self) -> frozenset[str] | None: ...


class EncoderRanker:
    """Implements Ranker. Vectors of candidates that are among `fact_checks` are taken from there, not made anew. Of a
    long post each candidate's best window counts."""

    name = "encoder"

    def __init__(
        self, encoder: TextEncoder, fact_checks: Sequence[FactCheck] = (), vectors: NDArray[np.float32] | None = None
    ) -> None:
        self._encoder = encoder
        self._known = {} if vectors is None else {f.key: v for f, v in zip(fact_checks, vectors, strict=True)}

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        windows = [split_windows(clean_post(post)) for post in posts]
        vectors = self._encoder.encode([window for of_post in windows for window in of_post])  # (windows, dim)
        cosines = vectors @ self._vectors(candidates).T  # (windows, candidates)
        firsts = np.cumsum([0, *map(len, windows)])[:-1]
        scores: NDArray[np.float32] = np.maximum.reduceat(cosines, firsts, axis=0) if len(firsts) else cosines
        return scores

    def _vectors(self, candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        """(candidates, dim)"""
        unknown = [c for c in candidates if c.key not in self._known]
        made = self._encoder.encode([embedding_text(c.claim, c.title) for c in unknown])
        known = self._known | {c.key: vector for c, vector in zip(unknown, made, strict=True)}
        return np.array([known[c.key] for c in candidates], dtype=np.float32).reshape(-1, self._encoder.dim)
