"""Which queries to ask a boolean platform: those that are expected to bring the most.

A post about the claim holds some of the claim's words. Which ones, nobody knows; a distribution over all patterns of
the rarest words says how likely each is, and every query finds the patterns that hold its words. What the queries of a
claim are worth together is then an exact sum over patterns, and what came back from earlier queries (a count, posts
read, how sure the matcher was) is evidence by which patterns are weighed anew.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

MOST_WORDS = 10  # of a claim that queries are made of: 1,024 patterns, 385 queries
MOST_IN_QUERY = 4
_NEGLIGIBLE = 1e-5  # patterns less likely are left out: a thousandth of the time's worth
_LEAST_GAIN = 1e-6


@dataclass(frozen=True, slots=True)
class Space:
    """All queries of up to four of `n` words, and which patterns each finds."""

    queries: tuple[tuple[int, ...], ...]
    members: NDArray[np.bool_]  # (queries, n)
    patterns: NDArray[np.bool_]  # (patterns, n)
    finds: NDArray[np.bool_]  # (patterns, queries)
    numbers: Mapping[frozenset[int], int]  # of the queries, by their words


@lru_cache(maxsize=MOST_WORDS + 1)
def space(n: int) -> Space:
    queries = tuple(query for size in range(1, min(n, MOST_IN_QUERY) + 1) for query in combinations(range(n), size))
    members = np.zeros((len(queries), n), dtype=np.bool_)
    for number, query in enumerate(queries):
        members[number, query] = True
    patterns = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(np.bool_)
    lacking = (~patterns).astype(np.float32) @ members.T.astype(np.float32)
    numbers = {frozenset(query): number for number, query in enumerate(queries)}
    return Space(queries, members, patterns, lacking == 0, numbers)


def pattern_odds(
    retained: NDArray[np.float64], shares: NDArray[np.float64], patterns: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """How likely each pattern is, (patterns,): a mixture of ways to put a claim, in each of which the words occur
    independently. `retained`: (words, ways) logits; `shares`: (ways,), of sum 1."""
    there, missing = -np.logaddexp(0, -retained), -np.logaddexp(0, retained)
    odds: NDArray[np.float64] = np.exp(patterns @ there + ~patterns @ missing) @ shares
    return odds


def f_two(found: NDArray[np.float64], reads: NDArray[np.float64]) -> NDArray[np.float64]:
    """F2 if one post is sought and found with chance `found`."""
    precision = found / np.maximum(np.maximum(reads, found), 1e-9)
    worth: NDArray[np.float64] = 5 * precision * found / np.maximum(4 * precision + found, 1e-9)
    return worth


def choose(
    odds: NDArray[np.float64], finds: NDArray[np.bool_], background: NDArray[np.float64], *, most: int, reads: float,
    but: Collection[int] = (),
) -> list[int]:  # fmt: skip
    """Up to `most` queries but those named, each the one that adds the most; fewer where more would cost more than they
    bring. `odds`: (patterns,) of a post that is sought; `background`: (queries,), how many other posts each is expected
    to match; `reads`: posts that one query may read."""
    likely = odds > _NEGLIGIBLE
    odds, finds = odds[likely], finds[likely]
    chance = np.minimum(1.0, reads / (1.0 + background))  # that a post which is found is also read
    cost = np.where(finds, np.minimum(reads, 1.0 + background), np.minimum(reads, background))  # (patterns, queries)
    missed, paid, best, chosen = np.ones(len(odds)), np.zeros(len(odds)), 0.0, list[int]()
    while len(chosen) < most:
        left = missed[:, None] * (1 - finds * chance)
        expected = odds @ f_two(1 - left, paid[:, None] + cost)
        expected[[*but, *chosen]] = -1.0
        query = int(np.argmax(expected))
        if expected[query] <= best + _LEAST_GAIN:
            break
        best = float(expected[query])
        chosen.append(query)
        missed, paid = left[:, query], paid + cost[:, query]
    return chosen
