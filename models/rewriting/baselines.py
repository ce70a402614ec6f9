"""Plain text queries of a claim, for ranked and dense endpoints: what a learned policy has to do better than.

Nothing here is learned and nothing knows which texts are gold; the settings are chosen on other claims. A claim of
which nothing would be left is sent as it is.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from zlib import crc32

import numpy as np

from domain.fact_check import Claim
from domain.query import EndpointKind, Query, Term, text_query
from models.retrieval.bm25 import BM25Index
from models.retrieval.statistics import TermStatistics
from models.rewriting.edits import TextEdits
from models.rewriting.tagging import Token
from models.rewriting.words import content_words, rarest, words

MOST_EDITS = 4  # as many as a search over edits goes deep
FEEDBACK_TEXTS, FEEDBACK_TERMS = 10, 10
_TOO_COMMON = 0.1  # of all texts: feedback would bring back the stop words of an index that keeps them
_GRAIN = 20  # weights are multiples of a twentieth, as those of the learned policy


def claim_as_it_is(claim: Claim, kind: EndpointKind) -> Query:
    return text_query(kind, claim.text, policy="claim")


def only_content_words(claim: Claim, kind: EndpointKind) -> Query:
    kept = content_words(claim.text, claim.language)
    return text_query(kind, " ".join(kept), policy="content_words") if kept else claim_as_it_is(claim, kind)


def rarest_words(claim: Claim, kind: EndpointKind, statistics: TermStatistics, n: int) -> Query:
    """The n content words that the fewest texts hold, of those that some text holds, in the order of the claim."""
    content = content_words(claim.text, claim.language)
    known = [word for word in content if statistics.document_frequency(word)] or content
    kept = set(rarest(known, statistics, n))
    text = " ".join(word for word in known if word in kept)
    return text_query(kind, text, policy="rarest") if text else claim_as_it_is(claim, kind)


def idf_boosts(claim: Claim, statistics: TermStatistics, exponent: float) -> Query:
    """Ranked: every word that some text holds with the weight idf ^ exponent, over the mean of the claim's, in
    twentieths. The index multiplies by idf once more."""
    known = [word for word in words(claim.text) if statistics.document_frequency(word)]
    worths = [_idf(statistics.document_frequency(word), len(statistics)) ** exponent for word in known]
    mean = sum(worths) / max(1, len(worths))
    terms = [(word, worth / mean) for word, worth in zip(known, worths, strict=True)]
    return _weighted(terms, policy="idf_boosts") or claim_as_it_is(claim, EndpointKind.RANKED)


def random_edits(claim: Claim, kind: EndpointKind, tokens: tuple[Token, ...], edits: TextEdits, *, seed: int) -> Query:
    """Up to four legal edits, each drawn from all that are legal then: fewer only if no more are legal, or if the text
    would be empty. The draw depends on the claim's text and the seed alone."""
    rng = np.random.default_rng([seed, crc32(claim.text.encode(errors="ignore"))])
    state = edits.start(tokens)
    for _ in range(MOST_EDITS):
        legal = np.flatnonzero(edits.legal(state))
        if not len(legal) or not (edited := edits.apply(state, int(rng.choice(legal)))).text:
            break
        state = edited
    return state.query(kind, policy="random") if state.text else claim_as_it_is(claim, kind)


@dataclass(frozen=True, slots=True)
class RelevanceFeedback:
    """RM3 (Abdul-Jaleel et al. 2004): the claim, and the terms that tell most of what it finds at first.

    A term's weight is the sum over the best texts of the text's share of their scores times the term's share of the
    text; the ten heaviest count. `analyse` is the index's, `texts` what it holds by id.
    """

    index: BM25Index
    analyse: Callable[[str], Sequence[str]]
    texts: Mapping[str, str]

    def query(self, claim: Claim, original: float) -> Query:
        """`original` is the claim's share of all weight, the rest goes to the terms of the texts found."""
        own = [word for word in words(claim.text) if self.index.document_frequency(word)]
        found = self._expansion(claim)
        if not own or not found:
            return claim_as_it_is(claim, EndpointKind.RANKED)
        scale = len(own)
        terms = [(word, scale * original / len(own)) for word in own]
        terms += [(word, scale * (1 - original) * share) for word, share in found]
        return _weighted(terms, policy="rm3") or claim_as_it_is(claim, EndpointKind.RANKED)

    def _expansion(self, claim: Claim) -> list[tuple[str, float]]:
        """Words, each as the texts found write it most often, and their shares, heaviest first."""
        weights: defaultdict[str, float] = defaultdict(float)
        spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for hit in self.index.search(claim_as_it_is(claim, EndpointKind.RANKED), FEEDBACK_TEXTS):
            spelt = [(token, spelling) for word in words(self.texts[hit.id]) for token, spelling in self._spelt(word)]
            for token, spelling in spelt:
                weights[token] += hit.score / len(spelt)
                spellings[token][spelling] += 1
        usual = {token: min(of, key=lambda word: (-of[word], word)) for token, of in spellings.items()}
        telling = [token for token in weights if self._tells(usual[token])]
        heaviest = sorted(telling, key=lambda token: (-weights[token], token))[:FEEDBACK_TERMS]
        total = sum(weights[token] for token in heaviest)
        return [(usual[token], weights[token] / total) for token in heaviest]

    def _spelt(self, word: str) -> list[tuple[str, str]]:
        """The tokens of a word, each with a spelling: the word, or the token itself if there are several."""
        tokens = self.analyse(word)
        return [(token, word.lower() if len(tokens) == 1 else token) for token in tokens]

    def _tells(self, word: str) -> bool:
        return len(word) > 1 and self.index.document_frequency(word) <= _TOO_COMMON * len(self.index)


def _weighted(terms: Sequence[tuple[str, float]], *, policy: str) -> Query | None:
    """In twentieths; words of less than a fortieth are left out. None if none is left."""
    rounded = [Term(word, round(_GRAIN * weight) / _GRAIN) for word, weight in terms]
    groups = tuple((term,) for term in rounded if term.weight)
    return Query(EndpointKind.RANKED, groups, policy) if groups else None


def _idf(document_frequency: int, texts: int) -> float:
    return log(1 + (texts - document_frequency + 0.5) / (document_frequency + 0.5))
