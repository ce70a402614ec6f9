"""Exact nearest neighbours by cosine, in memory: one matrix product a batch of queries."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from domain.query import EndpointKind, Query
from domain.search_index import Hit

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


class KnnIndex:
    """A `SearchIndex` of kind dense. A text that the encoder finds no words in is left out: it is near to nothing."""

    kind = EndpointKind.DENSE

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._built: tuple[list[str], NDArray[np.float32]] | None = None

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def ids(self) -> list[str]:
        """All ids in string order: the order of the rows of `matrix`."""
        return self._matrix()[0]

    def add(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        self.remove(ids)
        vectors = self._encode(texts)
        with_words = [row for row in range(len(texts)) if vectors[row].any()]
        self.add_vectors([ids[row] for row in with_words], vectors[with_words])

    def add_vectors(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Vectors (n, dim) of any length. Raises ValueError, naming the ids, for zero, NaN or infinite ones."""
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
        bad = [id_ for id_, length in zip(ids, lengths, strict=True) if not np.isfinite(length) or length == 0]
        if bad:
            raise ValueError(f"vectors that point nowhere (zero, NaN or infinite): {', '.join(bad[:10])}")
        self._vectors.update(zip(ids, (vectors / lengths[:, None]).astype(np.float32), strict=True))
        self._built = None

    def remove(self, ids: Sequence[str]) -> None:
        for id_ in ids:
            self._vectors.pop(id_, None)
        self._built = None

    def search(self, query: Query, k: int) -> list[Hit]:
        return self.search_vectors(self._encode([query.text]), k)[0]

    def search_vectors(self, queries: NDArray[np.float32], k: int) -> list[list[Hit]]:
        """The k nearest of each query vector (n, dim); none for a vector that points nowhere."""
        ids, matrix = self._matrix()
        if not ids or k <= 0:
            return [[] for _ in queries]
        return [
            self._nearest(ids, row, k) if np.any(q) else [] for q, row in zip(queries, queries @ matrix.T, strict=True)
        ]

    def count(self, query: Query) -> int:
        """Every text is some way off: all of them, or none for a query without words."""
        return len(self) if self._encode([query.text]).any() else 0

    def _nearest(self, ids: list[str], cosines: NDArray[np.float32], k: int) -> list[Hit]:
        # Rows are in id order, so a stable sort breaks ties by id; all that tie with the k-th must take part.
        threshold = np.partition(cosines, -k)[-k] if k < len(ids) else -np.inf
        rows = np.flatnonzero(cosines >= threshold)
        best = rows[np.argsort(-cosines[rows], kind="stable")][:k]
        return [Hit(ids[row], float(cosines[row])) for row in best]

    def _matrix(self) -> tuple[list[str], NDArray[np.float32]]:
        if self._built is None:
            ids = sorted(self._vectors)
            matrix = np.stack([self._vectors[id_] for id_ in ids]) if ids else np.zeros((0, 0), dtype=np.float32)
            self._built = (ids, matrix)
        return self._built
