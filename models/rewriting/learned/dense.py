"""The learned policy of dense endpoints: the claim, and the words that matter once more.

An encoder takes the mean over all words, so that a word said twice counts for more. Which words matter is what the
weights for ranked search say; leaving words out loses more than it gains.
"""

from dataclasses import dataclass

from domain.fact_check import Claim
from domain.query import Arm, Edit, EndpointKind, Query, Term
from models.retrieval.statistics import TermStatistics
from models.rewriting.learned.claim_words import all_words
from models.rewriting.learned.term_weights import TermWeights
from models.rewriting.policy import History, searches_of
from models.rewriting.words import content_word, content_words

_MATTERS = 1.0  # weight, chosen on dev


@dataclass(frozen=True, slots=True)
class LearnedDense:
    """One query a claim; English claims only."""

    weights: TermWeights
    statistics: TermStatistics

    @property
    def name(self) -> str:
        return f"emphasis@{self.weights.version}"

    def next(self, claim: Claim, history: History) -> Query | None:
        if any(result.query.policy == self.name for result in searches_of(history)):
            return None
        return self.query(claim)

    def query(self, claim: Claim) -> Query | None:
        """None for a claim that says nothing."""
        if not content_words(claim.text, claim.language):
            return None
        words = all_words(claim.text)
        weights = self.weights.weigh(claim.text, words, self.statistics)
        repeated = [
            word.text
            for word, weight in zip(words, weights, strict=True)
            if weight >= _MATTERS and content_word(word.text, claim.language)
        ]
        trail = tuple(Edit("say again", word) for word in repeated) or (Edit("keep the claim as it is"),)
        groups = tuple((Term(word),) for word in (*claim.text.split(), *repeated))
        return Query(EndpointKind.DENSE, groups, self.name, trail, Arm.LEARNED)
