"""Exact BM25 over texts in memory, of one field or several.

score(q, d) = sum over the query's tokens t of  w_t · idf(t) · tf / (tf + k1 · (1 - b + b · length / mean length)),
idf(t) = ln(1 + (N - df + ½) / (df + ½)): the variant of Lucene 8 and later (Kamphuis et al. 2020, table 1). With
several fields, tf and length are sums over the fields, each times its weight (Robertson, Zaragoza and Taylor 2004).
What a term is worth in a text is computed once, when the texts have changed.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, pairwise, repeat

import numpy as np
from numpy.typing import NDArray

from domain.query import EndpointKind, Query
from domain.search_index import Hit
from models.retrieval.analyser import ENGLISH
from models.retrieval.postings import Postings, TokenStore

Analyse = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best texts of each query, best first: their numbers in the index's `ids`, -1 where a list has ended."""

    documents: NDArray[np.int32]  # (queries, k)
    scores: NDArray[np.float32]  # (queries, k), 0 where a list has ended


@dataclass(frozen=True, slots=True)
class _Queries:
    """The terms of all queries in one row; query q is terms[bounds[q]:bounds[q + 1]]."""

    bounds: NDArray[np.int64]  # (queries + 1,)
    terms: NDArray[np.int32]
    weights: NDArray[np.float32]


class FieldedBM25:
    """BM25 over texts of several fields (claim, title, body), each with its weight.

    Reads may run in several threads at once; a write may not run beside anything else.
    """

    kind = EndpointKind.RANKED

    def __init__(
        self, weights: Sequence[float], analyser: Analyse = ENGLISH, *, k1: float = 1.5, b: float = 0.75
    ) -> None:
        self._analyser = analyser
        self._store = TokenStore(weights)
        self._k1, self._b = k1, b
        self._built: tuple[Postings, NDArray[np.float32]] | None = None

    def __len__(self) -> int:
        return len(self._store)

    @property
    def ids(self) -> tuple[str, ...]:
        """All ids in string order: the order of `scores` and the numbers of a `Ranking`."""
        return self._index()[0].ids

    def add_fields(self, ids: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
        """Texts of each id, one a weight, in the order of the weights."""
        for id_, fields in zip(ids, texts, strict=True):
            self._store.add(id_, [self._analyser(field) for field in fields])
        self._built = None

    def remove(self, ids: Sequence[str]) -> None:
        for id_ in ids:
            self._store.remove(id_)
        self._built = None

    def search(self, query: Query, k: int) -> list[Hit]:
        """As `SearchIndex`; a term's weight multiplies what it is worth, and a term of weight 0 or less is left out."""
        return self._hits(self._rank(self._weighted(query), k, threads=1))[0]

    def search_many(self, texts: Sequence[str], k: int, *, threads: int = 1) -> list[list[Hit]]:
        """The k best for each text, all words of weight 1."""
        return self._hits(self.rank([self._analyser(text) for text in texts], k, threads=threads))

    def rank(self, queries: Sequence[Sequence[str]], k: int, *, threads: int = 1) -> Ranking:
        """The k best for each query given as the analyser's tokens; k is at most the number of texts."""
        return self._rank(self._plain(queries), k, threads=threads)

    def scores(self, text: str) -> NDArray[np.float32]:
        """(texts,): what each text scores, in the order of `ids`."""
        return self._scores(self._plain([self._analyser(text)]))

    def count(self, query: Query) -> int:
        """Texts that hold at least one term of the query."""
        return int(np.count_nonzero(self._scores(self._weighted(query))))

    def document_frequency(self, word: str) -> int:
        tokens = self._analyser(word)
        postings, _ = self._index()
        return len(reduce(np.intersect1d, map(postings.of, tokens))) if tokens else 0

    def _index(self) -> tuple[Postings, NDArray[np.float32]]:
        built = self._built
        if built is None:
            postings = self._store.postings()
            built = self._built = (postings, _impacts(postings, self._k1, self._b))
        return built

    def _plain(self, queries: Sequence[Sequence[str]]) -> _Queries:
        postings, _ = self._index()
        bounds = np.cumsum([0, *map(len, queries)])
        numbers = map(postings.terms.get, chain.from_iterable(queries), repeat(postings.unknown))
        terms = np.fromiter(numbers, dtype=np.int32, count=bounds[-1])
        return _Queries(bounds, terms, np.ones(len(terms), dtype=np.float32))

    def _weighted(self, query: Query) -> _Queries:
        terms = [term for group in query.groups for term in group[:1] if term.weight > 0]
        tokens = [self._analyser(term.text) for term in terms]
        weights = np.array([term.weight for term in terms], dtype=np.float32)
        queries = self._plain([list(chain.from_iterable(tokens))])
        return replace(queries, weights=np.repeat(weights, [len(words) for words in tokens]))

    def _rank(self, queries: _Queries, k: int, *, threads: int) -> Ranking:
        from models.retrieval import bm25_kernel

        postings, impacts = self._index()
        many, n = len(queries.bounds) - 1, len(postings.ids)
        best = np.full((many, max(0, min(k, n))), -1, dtype=np.int32)
        best_scores = np.zeros(best.shape, dtype=np.float32)
        index = (postings.starts, postings.documents, impacts)

        def run(start: int, end: int) -> None:
            bounds = queries.bounds[start : end + 1]
            found = best[start:end], best_scores[start:end]
            bm25_kernel.rank(*index, bounds, queries.terms, queries.weights, n, *found)

        if best.size:
            _in_parts(run, many, threads)
        return Ranking(best, best_scores)

    def _scores(self, query: _Queries) -> NDArray[np.float32]:
        from models.retrieval import bm25_kernel

        postings, impacts = self._index()
        scores = np.zeros(len(postings.ids), dtype=np.float32)
        bm25_kernel.add_impacts(scores, postings.starts, postings.documents, impacts, query.terms, query.weights)
        return scores

    def _hits(self, ranking: Ranking) -> list[list[Hit]]:
        ids = self.ids
        rows = zip(ranking.documents.tolist(), ranking.scores.tolist(), strict=True)
        return [[Hit(ids[d], s) for d, s in zip(*row, strict=True) if d >= 0] for row in rows]


class BM25Index(FieldedBM25):
    """BM25 over single texts: a `SearchIndex` of kind ranked, and `TermStatistics`."""

    def __init__(self, analyser: Analyse = ENGLISH, *, k1: float = 1.5, b: float = 0.75) -> None:
        super().__init__((1.0,), analyser, k1=k1, b=b)

    def add(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        self.add_fields(ids, [(text,) for text in texts])


def _impacts(postings: Postings, k1: float, b: float) -> NDArray[np.float32]:
    """(postings,): idf times saturated term frequency, before a query's weight."""
    n, holders = len(postings.ids), np.diff(postings.starts)
    idf = np.log(1 + (n - holders + 0.5) / (holders + 0.5)).astype(np.float32)
    mean = postings.lengths.sum() / max(n, 1) or 1.0
    norms = k1 * ((1 - b) + b * postings.lengths / mean)
    tf = postings.frequencies
    return (np.repeat(idf, holders) * (tf / (norms[postings.documents] + tf))).astype(np.float32)


def _in_parts(run: Callable[[int, int], None], count: int, threads: int) -> None:
    """run(start, end) over 0 … count, cut in one even part a thread."""
    edges = np.linspace(0, count, max(1, threads) + 1).astype(int).tolist()
    if threads <= 1:
        return run(0, count)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda part: run(*part), pairwise(edges)))
