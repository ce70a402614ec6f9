"""Embeddings of fact-checks' titles, made when a post first comes near, and kept."""

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from models.ranking.encoder import TextEncoder


class TitleVectors:
    """By the number of the fact-check; one without a title has the vector of its claim. May be shared by threads.

    Kept for good: the titles of 14,000 fact-checks are 22 MB, and embedding them all beforehand would double the time
    that an archive takes to be taken in. `made` (fact-checks, dim): all of them, where they are there already.
    """

    def __init__(
        self,
        fact_checks: Sequence[FactCheck],
        claims: NDArray[np.float32],
        encoder: TextEncoder,
        *,
        made: NDArray[np.float32] | None = None,
    ) -> None:
        self._fact_checks = fact_checks
        self._vectors = claims.copy() if made is None else made
        self._known = np.array([made is not None or not fact.title for fact in fact_checks], dtype=np.bool_)
        self._encoder = encoder
        self._changing = threading.Lock()

    def prepare(self, wanted: Sequence[NDArray[np.intp]]) -> None:
        """Embed the titles of these that are still to be embedded, in one go."""
        with self._changing:
            numbers = np.unique(np.concatenate(wanted)) if wanted else np.zeros(0, dtype=np.intp)
            missing = numbers[~self._known[numbers]]
            if len(missing):
                self._vectors[missing] = self._encoder.encode([self._fact_checks[n].title for n in missing])
                self._known[missing] = True

    def of(self, numbers: NDArray[np.intp]) -> NDArray[np.float32]:
        """(numbers, dim) of titles that are prepared."""
        return self._vectors[numbers]
