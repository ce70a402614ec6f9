"""What the learned policies of ranked and dense endpoints share: one query a claim, made of its words' weights."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import Claim
from domain.query import Query
from models.retrieval.statistics import TermStatistics
from models.rewriting.learned.claim_words import ClaimWord, all_words
from models.rewriting.learned.term_weights import TermWeights
from models.rewriting.policy import History, searches_of
from models.rewriting.words import content_words


@dataclass(frozen=True, slots=True)
class Weighing(ABC):
    """English claims only."""

    weights: TermWeights
    statistics: TermStatistics

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def made(self, claim: Claim, words: Sequence[ClaimWord], logs: NDArray[np.float32]) -> Query:
        """The query, from the words of the claim, in order, and the logarithm of each one's weight."""

    def next(self, claim: Claim, history: History) -> Query | None:
        if any(result.query.policy == self.name for result in searches_of(history)):
            return None
        return self.query(claim)

    def query(self, claim: Claim) -> Query | None:
        """None for a claim that says nothing."""
        if not content_words(claim.text, claim.language):
            return None
        words = all_words(claim.text)
        return self.made(claim, words, self.weights.weigh(claim.text, words, self.statistics))
