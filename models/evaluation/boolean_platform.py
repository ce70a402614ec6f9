"""A boolean platform of realistic volume, made from a sample of posts.

A platform holds `scale` times as many other posts as the sample does, and of a query's matches only the newest
`reads` / K are read and paid for (K: the claim's number of queries). With g = gold posts of the claim that match,
c = other posts of the sample that match, N = the sample's size and p_i = the share of it that OR group i matches:

    background = scale * (c + 10 * N * prod(p_i)) for scale > 1, else c        (10: words of one topic go together)
    read       = min(reads / K, g + background), each matching gold post with chance read / (g + background)

`expected` gives the means of that; `draw` one day of it, so that what was read can be matched.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import reduce
from math import prod

import numpy as np

from domain.query import EndpointKind, Query
from models.retrieval.analyser import ENDPOINT
from models.retrieval.boolean import BooleanIndex

TOGETHER = 10.0  # words of one topic occur together that much more often than by chance


@dataclass(frozen=True, slots=True)
class Worth:
    """What the queries of one claim bring: gold posts found (each once) and posts read, as means or of one draw."""

    found: float
    reads: float
    gold: int

    @property
    def recall(self) -> float:
        return self.found / self.gold

    @property
    def precision(self) -> float:
        return self.found / max(self.reads, self.found) if self.found else 0.0

    @property
    def f2(self) -> float:
        return f_two(self.precision, self.recall)


@dataclass(frozen=True, slots=True)
class ReadPost:
    """A post as the platform would return it; `source` is the post of the sample whose text it has."""

    id: str
    source: str


@dataclass(frozen=True, slots=True)
class _Matches:
    gold: list[str]
    others: list[str]  # what the background is made of
    background: float


def f_two(precision: float, recall: float) -> float:
    """F2: recall weighs twice as much as precision."""
    return 5 * precision * recall / (4 * precision + recall) if precision and recall else 0.0


def background_posts(others: float, share: float, posts: int, scale: float) -> float:
    """How many other posts of the platform match, if `others` of the sample's `posts` do and the groups would match
    the share `share` of it if words occurred independently.

    Plain arithmetic without keywords, as is `f_two`, so that `models.rewriting.rewards` can compile both."""
    return scale * (others + TOGETHER * posts * share) if scale > 1 else float(others)


def together(matches: Sequence[tuple[Collection[Hashable], float]], *, reads: float, gold: int) -> Worth:
    """The mean worth of a claim's queries, each given as the gold posts and the number of others that match it; a gold
    post that several queries may bring counts once."""
    missed: dict[Hashable, float] = {}
    paid = 0.0
    for found, background in matches:
        total = len(found) + background
        read = min(reads / len(matches), total)
        paid += read
        for post in found:
            missed[post] = missed.get(post, 1.0) * (1 - read / total)
    return Worth(sum(1 - chance for chance in missed.values()), paid, gold)


class SampledPlatform:
    def __init__(self, posts: Mapping[str, str], *, scale: float = 100.0, reads: int = 100) -> None:
        self._index = BooleanIndex(ENDPOINT)
        self._index.add(list(posts), list(posts.values()))
        self._posts = frozenset(posts)
        self._scale, self._reads = scale, reads
        self._known: dict[tuple[Query, frozenset[str]], _Matches] = {}

    def expected(self, queries: Sequence[Query], gold: Set[str]) -> Worth:
        """The means over all draws."""
        matches = [self._matches(query, gold) for query in queries]
        return together([(found.gold, found.background) for found in matches], reads=self._reads, gold=len(gold))

    def draw(self, queries: Sequence[Query], gold: Set[str], rng: np.random.Generator) -> list[ReadPost]:
        """What one run of the queries reads: gold posts under their own id, background as copies under new ids."""
        read: list[ReadPost] = []
        for number, query in enumerate(queries):
            matches = self._matches(query, gold)
            background = _round(matches.background, rng)
            total = len(matches.gold) + background
            size = min(_round(min(self._reads / len(queries), total), rng), total)
            hits = int(rng.hypergeometric(len(matches.gold), background, size)) if total else 0
            read += [ReadPost(post, post) for post in rng.choice(matches.gold, hits, replace=False)] if hits else []
            copies = rng.choice(matches.others, size - hits) if size > hits else ()
            read += [ReadPost(f"{number}.{n}:{post}", str(post)) for n, post in enumerate(copies)]
        return read

    def _matches(self, query: Query, gold: Set[str]) -> _Matches:
        key = query, frozenset(gold)
        if key not in self._known:
            self._known[key] = self._match(*key)
        return self._known[key]

    def _match(self, query: Query, gold: Set[str]) -> _Matches:
        groups = [self._group(query, number) for number in range(len(query.groups))]
        if not groups:
            return _Matches([], [], 0.0)
        hits = reduce(set.intersection, groups)
        others = sorted(hits - gold)
        share = prod(len(group) / len(self._index) for group in groups)
        background = background_posts(len(others), share, len(self._index), self._scale)
        if background and not others:
            others = _nearest(groups, gold) or sorted(self._posts - gold)
        return _Matches(sorted(hits & gold), others, background)

    def _group(self, query: Query, number: int) -> set[str]:
        alone = Query(EndpointKind.BOOLEAN, (query.groups[number],), policy=query.policy)
        return {hit.id for hit in self._index.search(alone, len(self._index))}


def _nearest(groups: Sequence[Set[str]], gold: Set[str]) -> list[str]:
    """Where the sample holds no other match, the background looks like the posts that match the most groups."""
    matched: dict[str, int] = {}
    for group in groups:
        for post in group - gold:
            matched[post] = matched.get(post, 0) + 1
    most = max(matched.values(), default=0)
    return sorted(post for post, count in matched.items() if count == most)


def _round(value: float, rng: np.random.Generator) -> int:
    """A whole number whose mean over many draws is the value."""
    return int(value) + int(rng.random() < value % 1)
