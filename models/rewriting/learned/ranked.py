"""The learned policy of ranked endpoints: the claim, each of its words with a weight of its own."""

from dataclasses import dataclass

from domain.fact_check import Claim
from domain.query import Arm, Edit, EndpointKind, Query, Term
from models.retrieval.statistics import TermStatistics
from models.rewriting.learned.claim_words import all_words
from models.rewriting.learned.term_weights import TermWeights
from models.rewriting.policy import History, searches_of
from models.rewriting.words import content_words


@dataclass(frozen=True, slots=True)
class LearnedRanked:
    """One query a claim; English claims only. Words of weight 0 are left out."""

    weights: TermWeights
    statistics: TermStatistics

    @property
    def name(self) -> str:
        return f"term-weights@{self.weights.version}"

    def next(self, claim: Claim, history: History) -> Query | None:
        if any(result.query.policy == self.name for result in searches_of(history)):
            return None
        return self.query(claim)

    def query(self, claim: Claim) -> Query | None:
        """None for a claim that says nothing."""
        if not content_words(claim.text, claim.language):
            return None
        words = all_words(claim.text)
        weights = self.weights.weigh(claim.text, words, self.statistics).tolist()
        groups = tuple((Term(word.text, weight),) for word, weight in zip(words, weights, strict=True) if weight)
        trail = tuple(_edit(word.text, weight) for word, weight in zip(words, weights, strict=True) if weight != 1)
        return Query(EndpointKind.RANKED, groups, self.name, trail or (Edit("keep the claim as it is"),), Arm.LEARNED)


def _edit(word: str, weight: float) -> Edit:
    if not weight:
        return Edit("leave out", word)
    return Edit("more" if weight > 1 else "less", word, f"× {weight:g}")
