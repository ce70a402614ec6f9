"""Plain rewriting policies: honest baselines, and what runs where no learned policy is at hand.

Each plans its queries from the claim alone and asks them one after another; where all of them together brought few
posts, wider ones follow. Spec: the baselines of rewriting (claim as it is, keyphrases, rarest words, the triples of the
four rarest).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from domain.errors import BadInput
from domain.fact_check import Claim
from domain.query import Edit, EndpointKind, Query, all_words_query, text_query
from models.retrieval.statistics import TermStatistics
from models.rewriting.policy import History, searches_of
from models.rewriting.words import content_word, content_words, rarest, words

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
Trail = tuple[Edit, ...]

_PHRASES = 3
_FEW = 20  # different posts: with fewer, a wider query costs little and may find the claim in other words
_REMEMBERED = 1024  # claims: each is searched again and again
_DIVERSITY = 0.5  # of maximal marginal relevance: half likeness to the claim, half difference from those chosen


def rewriter(name: str, *, kind: EndpointKind, statistics: TermStatistics, encode: Encode) -> "Plain":
    """The policy of a name: claim, keyphrases or rarest. Raises BadInput for another."""
    policies: dict[str, Callable[[], Plain]] = {
        "claim": lambda: ClaimAsItIs(kind),
        "keyphrases": lambda: Keyphrases(kind, statistics, encode),
        "rarest": lambda: RarestWords(kind, statistics),
    }
    if name not in policies:
        raise BadInput(f"there is no rewriting policy {name!r}: choose from learned, {', '.join(policies)}")
    return policies[name]()


@dataclass(frozen=True, slots=True)
class ClaimAsItIs:
    """Sends the claim unchanged, once; to a boolean endpoint every word of it, the smallest included."""

    kind: EndpointKind
    name: str = "claim@1"

    def next(self, claim: Claim, history: History) -> Query | None:
        if not content_words(claim.text, claim.language):
            return None
        if self.kind is EndpointKind.BOOLEAN:
            trail = (Edit("keep every word of the claim"),)
            return _first_new([all_words_query(tuple(words(claim.text)), policy=self.name, trail=trail)], history)
        trail = (Edit("keep the claim as it is"),)
        return _first_new([text_query(self.kind, claim.text, policy=self.name, trail=trail)], history)


@dataclass(frozen=True, slots=True)
class RarestWords:
    """Boolean: the triples of the four rarest content words, the rarest first, wider: their pairs. Else: the rarest
    words as one text, in the order of the claim."""

    kind: EndpointKind
    statistics: TermStatistics
    most: int = 8  # words of a text query
    name: str = "rarest@1"

    def next(self, claim: Claim, history: History) -> Query | None:
        candidates, left_out = _findable(content_words(claim.text, claim.language), self.statistics)
        if not candidates:
            return None
        if self.kind is not EndpointKind.BOOLEAN:
            return _first_new([self._text(candidates, left_out)], history)
        four = rarest(candidates, self.statistics, 4)
        triples, pairs = (self._subsets(four, left_out, size=size) for size in (3, 2))
        return _first_new(triples, history, wider=pairs)

    def _text(self, candidates: list[str], left_out: Trail) -> Query:
        kept = set(rarest(candidates, self.statistics, self.most))
        text = " ".join(word for word in candidates if word in kept)
        trail = (*left_out, Edit("keep the rarest words", result=text))
        return text_query(self.kind, text, policy=self.name, trail=trail)

    def _subsets(self, ranked: list[str], left_out: Trail, *, size: int) -> list[Query]:
        """All subsets of a size (or all words, if there are fewer), those of the rarest words first."""
        trail = (*left_out, Edit("keep the rarest words", result=", ".join(ranked)))
        queries = []
        for kept in combinations(ranked, min(size, len(ranked))):
            others = tuple(Edit("leave out", word) for word in ranked if word not in kept)
            queries.append(all_words_query(kept, policy=self.name, trail=trail + others))
        return queries


@dataclass(frozen=True, slots=True)
class Keyphrases:
    """Phrases of up to three words nearest to the claim's meaning and unlike each other (maximal marginal relevance).

    Ranked and dense: the best phrases as one text. Boolean: the words of two of them a query, wider: of one.
    """

    kind: EndpointKind
    statistics: TermStatistics
    encode: Encode
    name: str = "keyphrases@1"
    because: str = ""  # said in the trail: why not another policy
    _phrases: Callable[[Claim], list[str]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_phrases", lru_cache(_REMEMBERED)(self._find_phrases))

    def next(self, claim: Claim, history: History) -> Query | None:
        phrases = self._phrases(claim)
        if not phrases:
            return None
        if self.kind is not EndpointKind.BOOLEAN:
            return _first_new([self._text(phrases)], history)
        together = [self._all_words(claim, pair) for pair in combinations(phrases, min(2, len(phrases)))]
        wider = [self._all_words(claim, (phrase,)) for phrase in phrases if " " in phrase]
        return _first_new(together, history, wider=wider)

    def _text(self, phrases: list[str]) -> Query:
        return text_query(self.kind, " ".join(phrases), policy=self.name, trail=self._trail(phrases))

    def _all_words(self, claim: Claim, phrases: tuple[str, ...]) -> Query:
        trail = self._trail(phrases)
        kept, left_out = _findable(content_words(" ".join(phrases), claim.language), self.statistics)
        return all_words_query(tuple(kept), policy=self.name, trail=trail + left_out)

    def _trail(self, phrases: Sequence[str]) -> Trail:
        why = (Edit(self.because),) if self.because else ()
        return why + tuple(Edit("keep the key phrase", phrase) for phrase in phrases)

    def _find_phrases(self, claim: Claim) -> list[str]:
        candidates = _phrase_candidates(claim)
        if not candidates:
            return []
        vectors = self.encode([claim.text, *candidates])
        relevance, likeness = vectors[1:] @ vectors[0], vectors[1:] @ vectors[1:].T
        chosen: list[int] = []
        while len(chosen) < min(_PHRASES, len(candidates)):
            nearest_chosen = likeness[:, chosen].max(axis=1) if chosen else np.zeros(len(candidates))
            worth = (1 - _DIVERSITY) * relevance - _DIVERSITY * nearest_chosen
            worth[chosen] = -np.inf
            chosen.append(int(np.argmax(worth)))
        return [candidates[i] for i in chosen]


Plain = ClaimAsItIs | RarestWords | Keyphrases


def _phrase_candidates(claim: Claim) -> list[str]:
    """Runs of one to three words, the longer first, each once, that neither begin nor end with a function word."""
    all_words = words(claim.text)
    contents = [content_word(word, claim.language) for word in all_words]
    runs: dict[str, None] = {}
    for size in (3, 2, 1):
        for start in range(len(all_words) - size + 1):
            first, last = contents[start], contents[start + size - 1]
            if first and last:
                inner = all_words[start + 1 : start + size - 1]
                runs[" ".join([first, *inner, last][-size:])] = None
    return list(runs)


def _findable(candidates: list[str], statistics: TermStatistics) -> tuple[list[str], Trail]:
    """The words that occur in some text, and the edits that leave out the rest; all, if none of them does."""
    unknown = [word for word in candidates if statistics.document_frequency(word) == 0]
    if len(unknown) == len(candidates):
        return candidates, ()
    kept = [word for word in candidates if word not in unknown]
    return kept, tuple(Edit("leave out", word, "occurs nowhere") for word in unknown)


def _first_new(planned: list[Query], history: History, *, wider: list[Query] | None = None) -> Query | None:
    """The first planned query that was not asked yet; wider ones if all were carried out and brought few posts."""
    done = searches_of(history)
    asked = {str(result.query) for result in done}
    if left := [query for query in planned if str(query) not in asked]:
        return left[0]
    found = sum(result.new_posts for result in done)
    if not wider or found >= _FEW or not all(result.carried_out for result in done):
        return None
    return next((query for query in wider if str(query) not in asked), None)
