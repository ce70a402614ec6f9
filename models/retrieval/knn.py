"""Exact nearest neighbours by cosine, in memory: one matrix product a batch of queries."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from domain.query import EndpointKind, Query
from domain.search_index import Hit

Encode = Callable[[Sequence[str]], NDArray[np.float32]]

_DECIMALS = 6  # of a cosine; finer differences come from rounding and would break ties at random
_MARGIN = 1e-5  # more than the order of summation changes a cosine of 32 bits
_MOST_COSINES = 16_000_000  # at once, 64 MB
_FEWEST_ROWS = 64
_ROWS_AT_ONCE = 10_000  # in 64 bits, 31 MB at dim 384


class KnnIndex:
    """A `SearchIndex` of kind dense. A text that the encoder finds no words in is left out: it is near to nothing.

    Reads may run in several threads at once; a write may not run beside anything else.
    """

    kind = EndpointKind.DENSE

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._matrix = np.zeros((0, 0), dtype=np.float32)  # (rows in use and to spare, dim), unit length

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        self.remove(ids)
        newest = dict(zip(ids, texts, strict=True))
        if not newest:
            return
        vectors = self._encode(list(newest.values()))
        with_words = [row for row, vector in enumerate(vectors) if vector.any()]
        added = list(newest)
        self.add_vectors([added[row] for row in with_words], vectors[with_words])

    def add_vectors(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Vectors (n, dim) of any length. Raises ValueError, naming the ids, for zero, NaN or infinite ones; then
        none is added."""
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
        bad = [id_ for id_, length in zip(ids, lengths, strict=True) if not np.isfinite(length) or length == 0]
        if bad:
            raise ValueError(f"vectors that point nowhere (zero, NaN or infinite): {', '.join(bad[:10])}")
        self._make_room(len(ids), vectors.shape[1])
        for id_, vector in zip(ids, vectors / lengths[:, None], strict=True):
            row = self._rows.setdefault(id_, len(self._ids))
            if row == len(self._ids):
                self._ids.append(id_)
            self._matrix[row] = vector

    def remove(self, ids: Sequence[str]) -> None:
        for id_ in ids:
            row = self._rows.pop(id_, None)
            if row is None:
                continue
            last = self._ids.pop()
            if last != id_:  # the last row moves into the gap
                self._ids[row], self._rows[last] = last, row
                self._matrix[row] = self._matrix[len(self._ids)]

    def search(self, query: Query, k: int) -> list[Hit]:
        return self.search_vectors(self._encode([query.text]), k)[0]

    def search_vectors(self, queries: NDArray[np.float32], k: int) -> list[list[Hit]]:
        """The k nearest of each query vector (n, dim); none for a vector that points nowhere."""
        return [self._nearest(query, cosines, k) for query, cosines in self._cosines(queries)]

    def count(self, query: Query) -> int:
        """Every text is some way off: all of them, or none for a query without words."""
        return len(self) if self._encode([query.text]).any() else 0

    def _cosines(self, queries: NDArray[np.float32]) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Each query at unit length (dim,), zeros if it points nowhere, and its cosines (texts,) in 32 bits."""
        rows = self._matrix[: len(self)] if len(self) else np.zeros((0, queries.shape[1]), dtype=np.float32)
        lengths = np.linalg.norm(queries.astype(np.float64), axis=1)
        usable = np.isfinite(lengths) & (lengths > 0)
        unit = np.zeros(queries.shape, dtype=np.float32)
        unit[usable] = queries[usable] / lengths[usable, None]
        step = max(1, _MOST_COSINES // max(1, len(self)))
        for start in range(0, len(unit), step):
            some = unit[start : start + step]  # (queries of the step, dim)
            yield from zip(some, some @ rows.T, strict=True)

    def _nearest(self, query: NDArray[np.float32], cosines: NDArray[np.float32], k: int) -> list[Hit]:
        if k <= 0 or not query.any():
            return []
        # All that may tie with the k-th take part, since the id decides between them.
        threshold = np.partition(cosines, -k)[-k] - _MARGIN if k < len(cosines) else -np.inf
        rows = np.flatnonzero(cosines >= threshold)
        hits = [Hit(self._ids[row], score) for row, score in zip(rows, self._exact(query, rows), strict=True)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:k]

    def _exact(self, query: NDArray[np.float32], rows: NDArray[np.intp]) -> list[float]:
        """Rounded cosines of some rows: in 32 bits, equal texts in different places would not always tie."""
        exact = query.astype(np.float64)
        scores: list[float] = []
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            some = self._matrix[rows[start : start + _ROWS_AT_ONCE]].astype(np.float64)
            scores += np.round(some @ exact, _DECIMALS).tolist()
        return scores

    def _make_room(self, more: int, dim: int) -> None:
        needed = len(self) + more
        if needed <= len(self._matrix):
            return
        grown = np.zeros((max(needed, 2 * len(self._matrix), _FEWEST_ROWS), dim), dtype=np.float32)
        if len(self):
            grown[: len(self)] = self._matrix[: len(self)]
        self._matrix = grown
