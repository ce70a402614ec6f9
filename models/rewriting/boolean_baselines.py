"""Plain boolean queries of a claim: what a learned policy has to do better than. All are ANDs of words of the claim.

`statistics` tell how rare a word is: of the language at large, or of the platform itself. A `Count` tells how many
posts of the platform match each query, which not every platform does.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import log

from domain.fact_check import Claim
from domain.query import Query, all_words_query
from models.retrieval.statistics import TermStatistics
from models.rewriting.words import content_words, rarest

Count = Callable[[Sequence[Query]], Sequence[float]]

_FEWEST_OF, _MOST_OF = 8, 12  # the rarest words of a claim
_WORDS_A_QUERY = 4
_SOME = 0.5  # matching posts, a mean on a simulated platform: less is more likely none than one


def rarest_together(claim: Claim, statistics: TermStatistics, n: int) -> list[Query]:
    """One query of the n rarest words."""
    kept = _rarest(claim, statistics, n)
    return [all_words_query(tuple(kept), policy=f"rarest{n}")] if kept else []


def triples_of_four(claim: Claim, statistics: TermStatistics) -> list[Query]:
    """All triples of the four rarest words; one query of all words if there are fewer than four."""
    four = _rarest(claim, statistics, 4)
    return [all_words_query(kept, policy="triples4") for kept in combinations(four, min(3, len(four))) if kept]


def rarest_under(claim: Claim, statistics: TermStatistics, count: Count, most: float) -> list[Query]:
    """The fewest words that some posts hold together, but at most so many: the first such subset of up to four of the
    eight rarest, the smaller and then the rarer first."""
    ranked = _rarest(claim, statistics, _FEWEST_OF)
    for size in range(1, _WORDS_A_QUERY + 1):
        queries = [all_words_query(kept, policy="counts_rarest") for kept in combinations(ranked, size)]
        for query, matching in zip(queries, count(queries), strict=True):
            if _SOME <= matching <= most:
                return [query]
    return []


def most_words(claim: Claim, statistics: TermStatistics, count: Count) -> list[Query]:
    """The most words that some post holds together: of all subsets of up to four of the twelve rarest; of subsets of
    one size the rarest words, by the product of their frequencies."""
    ranked = _rarest(claim, statistics, _MOST_OF)
    rarity = {word: log(max(1, statistics.document_frequency(word))) for word in ranked}
    for size in range(min(_WORDS_A_QUERY, len(ranked)), 0, -1):
        subsets = sorted(combinations(ranked, size), key=lambda subset: sum(rarity[word] for word in subset))
        queries = [all_words_query(subset, policy="most_words") for subset in subsets]
        for query, matching in zip(queries, count(queries), strict=True):
            if matching >= _SOME:
                return [query]
    return []


def _rarest(claim: Claim, statistics: TermStatistics, n: int) -> list[str]:
    """Of the words that occur at all, if any does."""
    content = content_words(claim.text, claim.language)
    known = [word for word in content if statistics.document_frequency(word)]
    return rarest(known or content, statistics, n)
