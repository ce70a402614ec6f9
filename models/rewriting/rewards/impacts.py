"""BM25 in whole numbers: what a term is worth in a text, as a fixed-point integer.

Sums of integers do not depend on the order of the terms, so that equal bags of words score equally whatever edits led
to them, and two texts tie or do not. A unit is 1 / 16,384 of BM25's: a sum stays below 2^24 up to a score of 1,024,
so that 32-bit floats (bm25s) hold the same sums exactly. Whoever holds a term scores at least one unit.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.retrieval.postings import Postings, TokenStore

UNITS = 1 << 14  # of the integers in 1.0 of BM25
_OFTEN = 32  # a term that one text in so many holds, or more, is looked up by text
_WORD_BITS = 64


@dataclass(frozen=True, slots=True)
class ImpactIndex:
    """Postings with their worth. A text's number is the place of its id in string order.

    A term that many texts hold has a row of `bits`, one bit a text, and of `before`, the number of its postings ahead
    of each word of bits: so a text's posting is found in one step, without going through the list.
    """

    postings: Postings
    impacts: NDArray[np.int32]  # (postings,)
    largest: NDArray[np.int32]  # (terms + 1,), 0 for the unknown term
    rows: NDArray[np.int32]  # (terms + 1,): the term's row of bits, -1 without one
    bits: NDArray[np.uint64]  # (rows, words)
    before: NDArray[np.int32]  # (rows, words)

    @property
    def size(self) -> int:
        return len(self.postings.ids)

    def numbers(self, ids: Collection[str]) -> NDArray[np.int32]:
        """The numbers of the ids that there are, ascending."""
        known = map(self._number, sorted(ids))
        return np.array([number for number in known if number >= 0], dtype=np.int32)

    def _number(self, id_: str) -> int:
        place = bisect_left(self.postings.ids, id_)
        return place if place < self.size and self.postings.ids[place] == id_ else -1


def index_tokens(texts: Mapping[str, Sequence[str]], *, k1: float, b: float) -> ImpactIndex:
    """From the tokens of each id."""
    store = TokenStore((1.0,))
    for id_, tokens in texts.items():
        store.add(id_, (tokens,))
    return index_postings(store.postings(), k1=k1, b=b)


def index_texts(
    texts: Mapping[str, str], analyser: Callable[[str], Sequence[str]], *, k1: float, b: float
) -> ImpactIndex:
    return index_tokens({id_: analyser(text) for id_, text in texts.items()}, k1=k1, b=b)


def index_postings(postings: Postings, *, k1: float, b: float) -> ImpactIndex:
    impacts = _impacts(postings, k1, b)
    holders = np.diff(postings.starts)
    largest = np.zeros(len(holders), dtype=np.int32)
    held = np.flatnonzero(holders)
    if len(held):
        largest[held] = np.maximum.reduceat(impacts, postings.starts[held])
    return ImpactIndex(postings, impacts, largest, *_bitmaps(postings, holders))


def _impacts(postings: Postings, k1: float, b: float) -> NDArray[np.int32]:
    """(postings,): idf times saturated term frequency, as in `models.retrieval.bm25`, in 64 bits and then rounded."""
    n, holders = len(postings.ids), np.diff(postings.starts)
    idf = np.log(1 + (n - holders + 0.5) / (holders + 0.5))
    mean = postings.lengths.sum() / max(n, 1) or 1.0
    norms = k1 * ((1 - b) + b * postings.lengths / mean)
    tf = postings.frequencies.astype(np.float64)
    exact = np.repeat(idf, holders) * (tf / (norms[postings.documents] + tf))
    return np.maximum(np.rint(exact * UNITS), 1).astype(np.int32)


def _bitmaps(
    postings: Postings, holders: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.int32]]:
    n = len(postings.ids)
    frequent = np.flatnonzero(holders * _OFTEN > n)
    rows = np.full(len(holders), -1, dtype=np.int32)
    rows[frequent] = np.arange(len(frequent))
    bits = np.zeros((len(frequent), n // _WORD_BITS + 1), dtype=np.uint64)
    for row, term in enumerate(frequent.tolist()):
        documents = postings.documents[postings.starts[term] : postings.starts[term + 1]].astype(np.uint64)
        np.bitwise_or.at(bits[row], documents // _WORD_BITS, np.uint64(1) << documents % np.uint64(_WORD_BITS))
    before = np.cumsum(np.bitwise_count(bits), axis=1, dtype=np.int32) - np.bitwise_count(bits)
    return rows, bits, before.astype(np.int32)
