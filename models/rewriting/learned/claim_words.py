"""The words of a claim as learned policies see them: where they stand, and what is known of each at a glance."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log10

import numpy as np
from numpy.typing import NDArray

from models.retrieval.analyser import any_word
from models.retrieval.statistics import TermStatistics
from models.rewriting.learned.post_statistics import PostStatistics
from models.rewriting.words import LINK, function_words

FEATURES = 10


@dataclass(frozen=True, slots=True)
class ClaimWord:
    """`start` and `end` bound it in the claim's text; both are 0 for a word that does not stand there as it is."""

    text: str
    start: int
    end: int


def all_words(text: str) -> list[ClaimWord]:
    """Every word, as an analyser cuts the text, links aside."""
    said = LINK.sub(lambda link: " " * len(link.group()), text)
    return [ClaimWord(found.group(), found.start(), found.end()) for found in any_word().finditer(said)]


def located(words: Sequence[str], text: str) -> list[ClaimWord]:
    """The words with the place where each is first mentioned."""
    found = [re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) for word in words]
    spans = [place.span() if place else (0, 0) for place in found]
    return [ClaimWord(word, *span) for word, span in zip(words, spans, strict=True)]


@dataclass(frozen=True, slots=True)
class Rarity:
    """log10 of how many of 10^8 texts would hold each word, (words,): 8 is a word that all of them hold."""

    at_large: NDArray[np.float64]  # in the language
    in_posts: NDArray[np.float64]

    @classmethod
    def of(cls, words: Sequence[ClaimWord], statistics: TermStatistics) -> "Rarity":
        """`statistics` are the language's."""
        return cls(_rarity(words, statistics), _rarity(words, PostStatistics.load()))

    def rarest(self, n: int) -> NDArray[np.intp]:
        """The places of the n words that are the rarest in the language, in the order of the claim."""
        return np.sort(np.argsort(self.at_large, kind="stable")[:n])

    def of_those(self, places: NDArray[np.intp]) -> "Rarity":
        return Rarity(self.at_large[places], self.in_posts[places])


def _rarity(words: Sequence[ClaimWord], statistics: TermStatistics) -> NDArray[np.float64]:
    share = [max(statistics.document_frequency(word.text.lower()), 1) / len(statistics) for word in words]
    return np.array([8 + log10(one) for one in share])


def word_features(words: Sequence[ClaimWord], rarity: Rarity) -> NDArray[np.float32]:
    """(words, FEATURES), each of about unit size: how rare, and how it is written."""
    rank = np.argsort(np.argsort(rarity.at_large, kind="stable"))
    n, stops = len(words), function_words("en")
    rows = [
        (
            (rarity.at_large[i] - 4) / 1.5, (rarity.in_posts[i] - 5) / 1.5, rank[i] / 8 - 0.7, n / 10 - 1, i / n - 0.5,
            word.text[0].isupper(), word.text.isupper(), any(map(str.isdigit, word.text)), len(word.text) / 8 - 0.8,
            word.text.lower() in stops,
        )
        for i, word in enumerate(words)
    ]  # fmt: skip
    return np.array(rows, dtype=np.float32).reshape(n, FEATURES)
