"""Embeddings that are made when a post first comes near their text, and kept."""

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.ranking.encoder import TextEncoder


class LateVectors:
    """By the number of the text. May be shared by threads.

    All are kept: 14,000 are 22 MB, and embedding an archive's titles beforehand would double the time that it takes to
    be taken in. `vectors` (texts, dim) holds those that are `known` (texts,) beforehand; both are filled in.
    """

    def __init__(
        self, texts: Sequence[str], encoder: TextEncoder, vectors: NDArray[np.float32], known: NDArray[np.bool_]
    ) -> None:
        self._texts = texts
        self._vectors = vectors
        self._known = known
        self._encoder = encoder
        self._changing = threading.Lock()

    def prepare(self, wanted: Sequence[NDArray[np.intp]]) -> None:
        """Embed those that are still to be embedded, in one go."""
        with self._changing:
            numbers = np.unique(np.concatenate(wanted)) if wanted else np.zeros(0, dtype=np.intp)
            missing = numbers[~self._known[numbers]]
            if len(missing):
                self._vectors[missing] = self._encoder.encode([self._texts[n] for n in missing])
                self._known[missing] = True

    def of(self, numbers: NDArray[np.intp]) -> NDArray[np.float32]:
        """(numbers, dim) of texts that are prepared."""
        return self._vectors[numbers]
