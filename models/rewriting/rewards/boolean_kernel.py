"""Which posts match boolean queries, counted on bitmaps, compiled. Imported on first use.

All subsets of a claim's words are visited depth first, the rarest word first, so that each subset's matches are its
prefix's and one more word's. Below a first word only the posts that hold it are kept, one bit each, which is what makes
it fast: most subsets are then a word or two of bits. Where no gold post is left, no longer subset finds one either.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from models.evaluation import boolean_platform
from models.rewriting.rewards.compilation import bits_set, compiled

_BITS = 64
(_NONE,) = np.array([0])  # no bare number: kernels that are given one are compiled for it anew

# The formulas of the platform themselves, compiled.
_background = compiled(boolean_platform.background_posts)
_f_two = compiled(boolean_platform.f_two)


class Words(NamedTuple):
    """A claim's words, the rarest first."""

    posts: NDArray[np.uint64]  # (words, bits of the posts)
    golds: NDArray[np.uint64]  # (words, bits of the claim's gold posts)
    shares: NDArray[np.float64]  # (words,), of all posts


class Found(NamedTuple):
    """The subsets that find a gold post."""

    subsets: NDArray[np.uint32]  # (subsets,): bit i for word i
    golds: NDArray[np.uint64]  # (subsets, bits of the gold posts)
    backgrounds: NDArray[np.float64]  # (subsets,)
    f2: NDArray[np.float64]  # (subsets,), alone


@compiled
def match(
    groups: NDArray[np.uint64],  # (groups, bits of the posts)
    bounds: NDArray[np.int64],  # (queries + 1,)
    members: NDArray[np.int64],  # query q is the groups members[bounds[q]:bounds[q + 1]]
    golds: NDArray[np.int64],
    found: NDArray[np.bool_],  # (queries, golds), filled
    others: NDArray[np.int64],  # (queries,), filled
) -> None:
    """What matches each query; nothing matches one without groups."""
    for q in range(len(others)):
        if bounds[q] == bounds[q + 1]:
            others[q], found[q] = 0, False
            continue
        hits = groups[members[bounds[q]]].copy()
        for m in members[bounds[q] + 1 : bounds[q + 1]]:
            hits &= groups[m]
        others[q] = _count(hits)
        for g in range(len(golds)):
            found[q, g] = (hits[golds[g] // _BITS] >> np.uint64(golds[g] % _BITS)) & np.uint64(1) > 0
            others[q] -= found[q, g]


@compiled
def _count(words: NDArray[np.uint64]) -> int:
    found = 0
    for word in words:
        found += bits_set(word)
    return found


@compiled
def worth_alone(found: int, background: float, reads: float, gold: int) -> float:
    """F2 of a claim's only query."""
    total = found + background
    if found == 0:
        return 0.0
    read = min(reads, total)
    got = found * read / total
    return _f_two(got / max(read, got), got / gold)


@compiled
def search_subsets(
    words: Words, most: int, posts: int, scale: float, reads: float, gold: int, found: Found
) -> tuple[int, int]:
    """Fill `found` with the subsets of up to `most` words that find gold; how many they are, how many were visited."""
    filled, visited = _NONE, _NONE
    for first in range(len(words.posts)):
        if _count(words.golds[first]) == 0:
            visited += 1
            continue
        narrowed = _narrowed(words.posts, first)
        filled, visited = _search_below(words, narrowed, first, most, posts, scale, reads, gold, found, filled, visited)
    return filled, visited


@compiled
def _narrowed(posts: NDArray[np.uint64], first: int) -> NDArray[np.uint64]:
    """(words, bits of the posts that hold the first word): the words from the first on."""
    size = _count(posts[first])
    narrowed = np.zeros((len(posts), (size + _BITS - 1) // _BITS), dtype=np.uint64)
    place = 0
    for block in range(posts.shape[1]):
        left = posts[first, block]
        while left:
            lowest = left & (~left + np.uint64(1))
            for word in range(first, len(posts)):
                if posts[word, block] & lowest:
                    narrowed[word, place // _BITS] |= np.uint64(1) << np.uint64(place % _BITS)
            left ^= lowest
            place += 1
    return narrowed


@compiled
def _search_below(
    words: Words,
    narrowed: NDArray[np.uint64],
    first: int,
    most: int,
    posts: int,
    scale: float,
    reads: float,
    gold: int,
    found: Found,
    filled: int,
    visited: int,
) -> tuple[int, int]:
    """Visit the subsets whose rarest word is the first. A path is the words chosen; level i holds what its first
    i + 1 words match."""
    hits = np.empty((most, narrowed.shape[1]), dtype=np.uint64)
    golds = np.empty((most, words.golds.shape[1]), dtype=np.uint64)
    shares, masks = np.empty(most), np.empty(most, dtype=np.uint32)
    path = np.empty(most, dtype=np.int64)
    path[0], level = first, 0
    while level >= 0:
        word = path[level]
        if word == len(words.posts) or (level == 0 and word > first):
            level -= 1
            if level >= 0:
                path[level] += 1
            continue
        visited += 1
        mask = np.uint32(1) << np.uint32(word)
        if level == 0:
            hits[0], golds[0], shares[0], masks[0] = narrowed[word], words.golds[word], words.shares[word], mask
        else:
            masks[level], shares[level] = masks[level - 1] | mask, shares[level - 1] * words.shares[word]
            golds[level] = golds[level - 1] & words.golds[word]
        of_gold = _count(golds[level])
        if of_gold == 0:
            path[level] += 1
            continue
        if level > 0:
            hits[level] = hits[level - 1] & narrowed[word]
        background = _background(_count(hits[level]) - of_gold, shares[level], posts, scale)
        found.subsets[filled], found.golds[filled] = masks[level], golds[level]
        found.backgrounds[filled] = background
        found.f2[filled] = worth_alone(of_gold, background, reads, gold)
        filled += 1
        if level + 1 < most:
            level += 1
            path[level] = word + 1
        else:
            path[level] += 1
    return filled, visited


@compiled
def best_addition(
    found: Found, chosen_reads: float, missed: NDArray[np.float64], reads: float, gold: int
) -> tuple[int, float]:
    """The subset that makes most of a set of queries which leaves each gold post unread with the chance `missed`, and
    the set's F2 with it. `reads` is what a query may read, `chosen_reads` what the set reads so far."""
    got_before = 0.0
    for chance in missed:
        got_before += 1 - chance
    best, best_f2 = 0, -1.0
    for s in range(len(found.subsets)):
        of_gold, open_gold = 0, 0.0
        for g in range(len(missed)):
            if (found.golds[s, g // _BITS] >> np.uint64(g % _BITS)) & np.uint64(1):
                of_gold += 1
                open_gold += missed[g]
        total = of_gold + found.backgrounds[s]
        read = min(reads, total)
        got, paid = got_before + open_gold * read / total, chosen_reads + read
        f2 = _f_two(got / max(paid, got), got / gold)
        if f2 > best_f2:
            best, best_f2 = s, f2
    return best, best_f2
