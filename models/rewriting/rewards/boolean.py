"""What boolean queries are worth on a platform of realistic volume: `boolean_platform`'s expectation, on bitmaps."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache, reduce
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from models.evaluation.boolean_platform import Worth, background_posts, together
from models.retrieval.analyser import ENDPOINT
from models.retrieval.postings import Postings, TokenStore

if TYPE_CHECKING:
    from models.rewriting.rewards.boolean_kernel import Found

MOST_WORDS = 32  # of a claim, in a search over subsets

Group = Sequence[str]
Query = Sequence[Group]

_BITS = 64
_GROUPS_REMEMBERED = 4096  # 13 MB on 25,000 posts


class BooleanRewards:
    """A `RewardEngine` of queries as sequences of OR groups. May be shared by threads."""

    metrics = ("f2", "recall", "reads")

    def __init__(self, posts: Mapping[str, str], *, scale: float = 100.0, reads: float = 100.0) -> None:
        store = TokenStore((1.0,))
        for id_, text in posts.items():
            store.add(id_, (ENDPOINT(text),))
        self._postings: Postings = store.postings()
        self._numbers = {id_: number for number, id_ in enumerate(self._postings.ids)}
        self.scale, self.reads = scale, reads
        self.group = lru_cache(maxsize=_GROUPS_REMEMBERED)(self._group)

    @property
    def posts(self) -> int:
        return len(self._numbers)

    @property
    def blocks(self) -> int:
        """Words of bits, one bit a post."""
        return self.posts // _BITS + 1

    def open(self, gold: Set[str]) -> "BooleanEpisode":
        if not gold:
            raise ValueError("a claim without gold posts has no reward")
        known = sorted(self._numbers[id_] for id_ in gold if id_ in self._numbers)
        return BooleanEpisode(self, np.array(known, dtype=np.int64), len(gold))

    def _group(self, words: tuple[str, ...]) -> NDArray[np.uint64]:
        """(bits of the posts): those that hold all stems of at least one of the words."""
        bits = np.zeros(self.blocks, dtype=np.uint64)
        for word in words:
            stems = ENDPOINT(word)
            holders = reduce(np.intersect1d, map(self._postings.of, stems)) if stems else np.zeros(0, dtype=np.uint32)
            places = holders.astype(np.uint64)
            np.bitwise_or.at(bits, places // _BITS, np.uint64(1) << places % np.uint64(_BITS))
        return bits


class BooleanEpisode:
    """One claim's. Nothing is remembered but the groups, by the engine: a query is cheaper than remembering it."""

    def __init__(self, engine: BooleanRewards, golds: NDArray[np.int64], gold: int) -> None:
        self._engine, self._golds, self._gold = engine, golds, gold

    def evaluate(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """Each query as the claim's only one: F2, recall and posts read."""
        worths = [self._together([match]) for match in self._matches(queries)]
        return np.array([(worth.f2, worth.recall, worth.reads) for worth in worths]).reshape(len(queries), 3)

    def together(self, queries: Sequence[Query]) -> Worth:
        """All queries of the claim, which share its reads."""
        return self._together(self._matches(queries))

    def background(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """How many posts of the platform each query matches that are not the claim's, (queries,)."""
        return np.array([background for _, background in self._matches(queries)])

    def count(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """How many posts of the platform each query matches, the claim's and others, (queries,)."""
        return np.array([len(found) + background for found, background in self._matches(queries)])

    def search(self, words: Sequence[str], most: int = 5) -> "SubsetPool":
        """All subsets of up to `most` of the words, each word once, at most 32."""
        kept = list(dict.fromkeys(words))
        if len(kept) > MOST_WORDS:
            raise ValueError(f"{len(kept)} words: a search over subsets takes {MOST_WORDS} at most")
        return _search(self._engine, self._golds, self._gold, kept, most)

    def _together(self, matches: Sequence[tuple[list[int], float]]) -> Worth:
        return together(matches, reads=self._engine.reads, gold=self._gold)

    def _matches(self, queries: Sequence[Query]) -> list[tuple[list[int], float]]:
        """Of each query the gold posts that match it and how many other posts do."""
        from models.rewriting.rewards import boolean_kernel

        engine, posts = self._engine, self._engine.posts
        numbers: dict[tuple[str, ...], int] = {}
        members = [[numbers.setdefault(tuple(group), len(numbers)) for group in query] for query in queries]
        bounds = np.cumsum([0, *map(len, members)])
        groups = np.array([engine.group(group) for group in numbers], dtype=np.uint64).reshape(
            len(numbers), engine.blocks
        )
        shares = np.bitwise_count(groups).sum(axis=1) / max(posts, 1)
        flat = np.array([member for query in members for member in query], dtype=np.int64)
        found, others = np.zeros((len(queries), len(self._golds)), dtype=np.bool_), np.zeros(len(queries), np.int64)
        boolean_kernel.match(groups, bounds, flat, self._golds, found, others)
        products = [float(np.prod(shares[query])) if query else 0.0 for query in members]
        backgrounds = [
            background_posts(other, share, posts, engine.scale)
            for other, share in zip(others.tolist(), products, strict=True)
        ]
        return [(np.flatnonzero(row).tolist(), other) for row, other in zip(found, backgrounds, strict=True)]


@dataclass(frozen=True, slots=True)
class SubsetPool:
    """What a search over subsets found: the queries of one word a group that match a gold post, and their worth.

    `covered` subsets have a known worth: those that are not here find nothing. `visited` were looked at.
    """

    words: tuple[str, ...]
    found: "Found"
    reads: float
    gold: int
    covered: int
    visited: int

    def __len__(self) -> int:
        return len(self.found.subsets)

    def query(self, number: int) -> tuple[tuple[str], ...]:
        subset = int(self.found.subsets[number])
        return tuple((word,) for place, word in enumerate(self.words) if subset >> place & 1)

    def best(self, count: int) -> list[tuple[tuple[tuple[str], ...], float]]:
        """The best queries alone, and their F2; of equal ones the shorter."""
        f2, sizes = self.found.f2, np.bitwise_count(self.found.subsets)
        order = np.lexsort((self.found.subsets, sizes, -f2))[:count]
        return [(self.query(number), float(f2[number])) for number in order.tolist()]

    def choose(self, most: int) -> tuple[list[tuple[tuple[str], ...]], float]:
        """Up to `most` queries, each chosen for what it adds to those before, and their F2 together. Fewer are sent
        where that is worth more, since the reads are shared."""
        return max(
            (self._chosen(count) for count in range(1, most + 1)), key=lambda chosen: chosen[1], default=([], 0.0)
        )

    def _chosen(self, count: int) -> tuple[list[tuple[tuple[str], ...]], float]:
        from models.rewriting.rewards import boolean_kernel

        queries: list[tuple[tuple[str], ...]] = []
        missed = np.ones(self.gold)
        paid, f2 = 0.0, 0.0
        for _ in range(count if len(self) else 0):
            number, f2 = boolean_kernel.best_addition(self.found, paid, missed, self.reads / count, self.gold)
            paid += self._read(number, self.reads / count, missed)
            queries.append(self.query(number))
        return queries, f2

    def _read(self, number: int, reads: float, missed: NDArray[np.float64]) -> float:
        """What the query reads; `missed` is then what it leaves."""
        golds = np.unpackbits(self.found.golds[number].view(np.uint8), bitorder="little")[: len(missed)].astype(bool)
        total = golds.sum() + self.found.backgrounds[number]
        read = min(reads, total)
        missed[golds] *= 1 - read / total
        return float(read)


def _search(engine: BooleanRewards, golds: NDArray[np.int64], gold: int, words: list[str], most: int) -> SubsetPool:
    from models.rewriting.rewards import boolean_kernel

    posts = np.array([engine.group((word,)) for word in words], dtype=np.uint64).reshape(len(words), engine.blocks)
    holders = np.bitwise_count(posts).sum(axis=1, dtype=np.int64)
    order = np.argsort(holders, kind="stable")
    covered = sum(comb(len(words), size) for size in range(1, most + 1))
    kernel_words = boolean_kernel.Words(
        posts[order], _bits_at(posts[order], golds), holders[order] / max(engine.posts, 1)
    )
    found = boolean_kernel.Found(
        np.empty(covered, dtype=np.uint32),
        np.empty((covered, kernel_words.golds.shape[1]), dtype=np.uint64),
        np.empty(covered),
        np.empty(covered),
    )
    filled, visited = boolean_kernel.search_subsets(
        kernel_words,
        most,
        engine.posts,
        float(engine.scale),
        float(engine.reads),
        gold,
        found,  # compiled for floats
    )
    return SubsetPool(
        words=tuple(words[place] for place in order.tolist()),
        found=boolean_kernel.Found(
            found.subsets[:filled], found.golds[:filled], found.backgrounds[:filled], found.f2[:filled]
        ),
        reads=engine.reads,
        gold=gold,
        covered=covered,
        visited=visited,
    )


def _bits_at(rows: NDArray[np.uint64], places: NDArray[np.int64]) -> NDArray[np.uint64]:
    """(rows, bits of the places): which of the places each row has."""
    held = (rows[:, places // _BITS] >> (places % _BITS).astype(np.uint64)) & np.uint64(1)
    bits = np.zeros((len(rows), len(places) // _BITS + 1), dtype=np.uint64)
    for number in range(len(places)):
        bits[:, number // _BITS] |= held[:, number] << np.uint64(number % _BITS)
    return bits
