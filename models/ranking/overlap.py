"""How much of what a fact-check says stands, word for word, in a post.

Words weigh by how rare they are in their language at large, not in the collection, so that the measure means the same
beside 50 fact-checks as beside 14,000. The body is left out: the longer an article, the more words it shares by chance.
"""

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from domain.fact_check import FactCheck
from models.retrieval.analyser import ENGLISH
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.words import content_words

_COMMON = 4.0  # nats: a word of every 55th place weighs nothing
_LEAST = 0.1


@dataclass(frozen=True, slots=True)
class Overlap:
    """`coverage`: share of the claim's weight that the post has, 0 … 1. `shared`: weight of all words that claim or
    title have in common with the post, in nats; an average content word weighs 5 to 8."""

    coverage: float
    shared: float


@dataclass(frozen=True, slots=True)
class _Stated:
    claim: dict[str, float]
    claim_or_title: dict[str, float]


class WordOverlap:
    """Tables of words are made when a fact-check is first a candidate, and kept."""

    def __init__(self, fact_checks: Sequence[FactCheck]) -> None:
        self._fact_checks = fact_checks
        self._stated: dict[int, _Stated] = {}

    def measure(self, post_tokens: Set[str], number: int) -> Overlap:
        """The overlap of a post, as the tokens of the ENGLISH analyser, with the fact-check of that number."""
        stated = self._stated.get(number) or self._stated.setdefault(number, _state(self._fact_checks[number]))
        total = sum(stated.claim.values())
        covered = _weight_in(stated.claim, post_tokens)
        return Overlap(covered / total if total else 0.0, _weight_in(stated.claim_or_title, post_tokens))


def _weight_in(weights: dict[str, float], tokens: Set[str]) -> float:
    return sum(weight for token, weight in weights.items() if token in tokens)


def _state(fact_check: FactCheck) -> _Stated:
    claim = _token_weights(fact_check.claim, fact_check.language)
    return _Stated(claim, _token_weights(fact_check.title, fact_check.language) | claim)


def _token_weights(text: str, language: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for word in content_words(text, language):
        for token in ENGLISH(word):
            weights[token] = max(weights.get(token, 0.0), _word_weight(word.lower(), language))
    return weights


@lru_cache(maxsize=1 << 16)
def _word_weight(word: str, language: str) -> float:
    statistics = WordFrequency(language)
    return max(math.log(len(statistics) / statistics.document_frequency(word)) - _COMMON, _LEAST)
