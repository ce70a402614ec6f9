"""The inner loops of BM25, compiled. Imported on first use, since importing numba takes a second.

Scores are sums of positive float32 impacts, added in the order of the query's terms. The bit pattern of a positive
float orders as the float does, so selection works on integers and has no rounding of its own.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

_Function = TypeVar("_Function", bound=Callable[..., object])
_BLOCKS_A_HIT = 8  # so that two of the best seldom share one
_MOST_ROWS = 64  # texts a block
_FEW = 256  # keys that are put in order faster by comparing all pairs, in vector registers, than by a heap
_BUCKET_BITS = 17  # the low bits that a bucket leaves out: 64 buckets from one power of two to the next


def _compiled(function: _Function) -> _Function:
    """Compiled on first call, kept on disk where numba finds a writable folder, without the interpreter's lock."""
    try:
        return cast(_Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no folder to keep it in
        return cast(_Function, numba.njit(nogil=True)(function))


@_compiled
def add_impacts(
    scores: NDArray[np.float32],  # (at least texts,), changed
    starts: NDArray[np.int64],  # (terms + 1,)
    documents: NDArray[np.uint32],  # (postings,)
    impacts: NDArray[np.float32],  # (postings,)
    terms: NDArray[np.int32],  # (query,)
    weights: NDArray[np.float32],  # (query,)
) -> None:
    """Add to each text's score what the query's terms are worth in it."""
    for i in range(len(terms)):
        weight = weights[i]
        for p in range(starts[terms[i]], starts[terms[i] + 1]):
            scores[documents[p]] += weight * impacts[p]


@_compiled
def _fill_maxima(maxima: NDArray[np.int32], bits: NDArray[np.int32]) -> None:
    """maxima[j] = max of bits[j], bits[j + blocks], …: strided blocks, so that the loop runs in vector registers."""
    blocks = len(maxima)
    for j in range(blocks):
        maxima[j] = 0
    for start in range(0, len(bits), blocks):
        row = bits[start : start + blocks]
        for j in range(blocks):
            maxima[j] = max(maxima[j], row[j])


@_compiled
def _lowest_to_keep(maxima: NDArray[np.int32], counts: NDArray[np.int32], k: int) -> int:
    """A bound that at least k maxima reach, or 1 if fewer are positive; k texts reach it then. `counts` is zero
    before and after."""
    top = 0
    for value in maxima:
        bucket = value >> _BUCKET_BITS
        counts[bucket] += 1
        top = max(top, bucket)
    left = k
    bucket = top
    while bucket > 0:
        left -= counts[bucket]
        if left <= 0:
            break
        bucket -= 1
    for value in maxima:
        counts[value >> _BUCKET_BITS] = 0
    return max(bucket << _BUCKET_BITS, 1)


@_compiled
def _collect(keys: NDArray[np.int64], bits: NDArray[np.int32], maxima: NDArray[np.int32], lowest: int) -> int:
    """Write a key for each text that reaches `lowest`; their number. A greater key is a better score or, at the same
    score, a smaller text number."""
    found = 0
    for j in range(len(maxima)):
        if maxima[j] >= lowest:
            for text in range(j, len(bits), len(maxima)):
                keys[found] = (np.int64(bits[text]) << 32) | (len(bits) - text)
                found += bits[text] >= lowest
    return found


@_compiled
def _sift_down(heap: NDArray[np.int64], i: int, size: int) -> None:
    """Let the key at i sink until no child of it is greater."""
    key, child = heap[i], 2 * i + 1
    while child < size:
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= key:
            break
        heap[i] = heap[child]
        i, child = child, 2 * child + 1
    heap[i] = key


@_compiled
def _put_in_order(ordered: NDArray[np.int64], keys: NDArray[np.int64], found: int) -> int:
    """Write the greatest of the first `found` keys, best first, as many as fit; their number. `keys` is used up."""
    wanted = min(found, len(ordered))
    if found <= _FEW:
        for i in range(found):
            better = 0
            for j in range(found):
                better += keys[j] > keys[i]
            if better < wanted:
                ordered[better] = keys[i]
        return wanted
    for i in range(found // 2 - 1, -1, -1):
        _sift_down(keys, i, found)
    for i in range(wanted):
        ordered[i] = keys[0]
        keys[0] = keys[found - 1 - i]
        _sift_down(keys, 0, found - 1 - i)
    return wanted


@_compiled
def rank(
    starts: NDArray[np.int64],  # (terms + 1,)
    documents: NDArray[np.uint32],  # (postings,)
    impacts: NDArray[np.float32],  # (postings,)
    bounds: NDArray[np.int64],  # (queries + 1,): query q is terms[bounds[q]:bounds[q + 1]]
    terms: NDArray[np.int32],
    weights: NDArray[np.float32],
    texts: int,
    best: NDArray[np.int32],  # (queries, k), filled from the left with text numbers
    best_scores: NDArray[np.float32],  # (queries, k)
) -> None:
    """The k best texts of each query, by score and then by number; texts without any term of it are left out."""
    k = best.shape[1]
    rows = max(1, min(texts // (_BLOCKS_A_HIT * k), _MOST_ROWS))
    blocks = (texts + rows - 1) // rows
    scores = np.zeros(blocks * rows, dtype=np.float32)
    bits = scores.view(np.int32)
    maxima = np.empty(blocks, dtype=np.int32)
    counts = np.zeros(1 << (31 - _BUCKET_BITS), dtype=np.int32)
    keys = np.empty(len(bits) + 1, dtype=np.int64)  # one more: a key is written before it is known to count
    ordered = np.empty(k, dtype=np.int64)
    for q in range(len(bounds) - 1):
        add_impacts(
            scores, starts, documents, impacts, terms[bounds[q] : bounds[q + 1]], weights[bounds[q] : bounds[q + 1]]
        )
        _fill_maxima(maxima, bits)
        found = _collect(keys, bits, maxima, _lowest_to_keep(maxima, counts, k))
        for i in range(_put_in_order(ordered, keys, found)):
            text = len(bits) - (ordered[i] & 0xFFFFFFFF)
            best[q, i], best_scores[q, i] = text, scores[text]
        for i in range(len(scores)):
            scores[i] = 0
