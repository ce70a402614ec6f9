"""What a text is worth before an index of nearest neighbours, from the ranks of the gold texts alone.

Ranks are those of `models.retrieval.knn`: by cosine rounded to six decimals, then by id. A batch is one call of the
encoder, for the texts not seen lately, and one matrix product; only cosines too near a gold text's to tell apart in 32
bits are worked out in 64.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from models.rewriting.rewards.protocol import CUT, RANK_METRICS

Encode = Callable[[Sequence[str]], NDArray[np.float32]]

_DECIMALS = 6  # of a cosine, as in KnnIndex
_MARGIN = 1e-5  # more than rounding and the order of summation change a cosine of 32 bits
_MOST_COSINES = 16_000_000  # at once, 64 MB
_OVERHEAD = 200  # bytes a remembered text takes besides its letters and its vector


class RecentVectors:
    """An encoder that remembers the texts it was given last, up to so many bytes. May be shared by threads."""

    def __init__(self, encode: Encode, most_bytes: int = 256_000_000) -> None:
        self._encode, self._most_bytes = encode, most_bytes
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(texts, dim); at least one text. Equal texts are encoded once."""
        with self._lock:
            found = {text: self._vectors[text] for text in texts if text in self._vectors}
        new = [text for text in dict.fromkeys(texts) if text not in found]
        made = dict(zip(new, self._encode(new), strict=True)) if new else {}
        with self._lock:
            for text in found.keys() | made.keys():
                self._remember(text, found.get(text, made.get(text)))
        return np.array([found[text] if text in found else made[text] for text in texts])

    def _remember(self, text: str, vector: NDArray[np.float32] | None) -> None:
        if vector is None:
            return
        if text not in self._vectors:
            self._bytes += _size(text, vector)
            self._vectors[text] = vector.copy()  # so that no row keeps a whole batch alive
        self._vectors.move_to_end(text)
        while self._bytes > self._most_bytes:
            self._bytes -= _size(*self._vectors.popitem(last=False))


class DenseRewards:
    """A `RewardEngine` of texts. May be shared by threads."""

    metrics = RANK_METRICS

    def __init__(self, encode: Encode, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Vectors (ids, dim) of any length; a text whose vector is zero is left out, as it is near to nothing."""
        order = [row for row in sorted(range(len(ids)), key=ids.__getitem__) if vectors[row].any()]
        self._encode = encode
        self._numbers = {ids[row]: number for number, row in enumerate(order)}
        self._unit = _unit(vectors[order])  # (texts, dim), in the order of the ids

    def open(self, gold: Set[str]) -> "DenseEpisode":
        if not gold:
            raise ValueError("a claim without gold texts has no reward")
        known = sorted(self._numbers[id_] for id_ in gold if id_ in self._numbers)
        return DenseEpisode(self, np.array(known, dtype=np.int64), len(gold))

    def ranks(self, texts: Sequence[str], golds: NDArray[np.int64]) -> NDArray[np.int32]:
        """(texts, golds): 1 … CUT; 0 past it and for a text without words."""
        ranks = np.zeros((len(texts), len(golds)), dtype=np.int32)
        if not texts or not len(golds):
            return ranks
        queries = _unit(self._encode(texts))
        step = max(1, _MOST_COSINES // len(self._unit))
        for start in range(0, len(queries), step):
            cosines = queries[start : start + step] @ self._unit.T
            for row, query in enumerate(queries[start : start + step]):
                if query.any():
                    ranks[start + row] = [self._rank(query, cosines[row], gold) for gold in golds.tolist()]
        ranks[ranks > CUT] = 0
        return ranks

    def _rank(self, query: NDArray[np.float32], cosines: NDArray[np.float32], gold: int) -> int:
        [of_gold] = self._exact(query, np.array([gold]))
        above = int(np.count_nonzero(cosines > of_gold + _MARGIN))
        if above >= CUT:
            return 0
        near = np.flatnonzero(np.abs(cosines - of_gold) <= _MARGIN)
        exact = self._exact(query, near)
        return 1 + above + int(np.count_nonzero((exact > of_gold) | ((exact == of_gold) & (near < gold))))

    def _exact(self, query: NDArray[np.float32], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        exact: NDArray[np.float64] = np.round(self._unit[rows].astype(np.float64) @ query.astype(np.float64), _DECIMALS)
        return exact


class DenseEpisode:
    """`distinct` is the number of unlike texts evaluated so far."""

    def __init__(self, engine: DenseRewards, golds: NDArray[np.int64], relevant: int) -> None:
        self._engine, self._golds, self._relevant = engine, golds, relevant
        self._worths: dict[str, NDArray[np.float64]] = {}

    @property
    def distinct(self) -> int:
        return len(self._worths)

    def evaluate(self, queries: Sequence[str]) -> NDArray[np.float64]:
        from models.rewriting.rewards.measures import measure

        new = [text for text in dict.fromkeys(queries) if text not in self._worths]
        worths = np.zeros((len(new), len(RANK_METRICS)))
        measure(self._engine.ranks(new, self._golds), self._relevant, worths)
        self._worths.update(zip(new, worths, strict=True))
        return np.array([self._worths[text] for text in queries]).reshape(len(queries), len(RANK_METRICS))


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors at unit length; zeros for one that points nowhere."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    unit = np.zeros(vectors.shape, dtype=np.float32)
    usable = np.isfinite(lengths) & (lengths > 0)
    unit[usable] = vectors[usable] / lengths[usable, None]
    return unit


def _size(text: str, vector: NDArray[np.float32]) -> int:
    return len(text) + vector.nbytes + _OVERHEAD
