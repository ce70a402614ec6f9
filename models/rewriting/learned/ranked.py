"""The learned policy of ranked endpoints: the claim, each of its words with a weight of its own."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import Claim
from domain.query import Arm, Edit, EndpointKind, Query, Term
from models.rewriting.learned.claim_words import ClaimWord
from models.rewriting.learned.term_weights import settled
from models.rewriting.learned.weighing import Weighing


@dataclass(frozen=True, slots=True)
class LearnedRanked(Weighing):
    @property
    def name(self) -> str:
        return f"term-weights@{self.weights.version}"

    def made(self, claim: Claim, words: Sequence[ClaimWord], logs: NDArray[np.float32]) -> Query:
        weighed = [(word.text, weight) for word, weight in zip(words, settled(logs).tolist(), strict=True)]
        groups = tuple((Term(word, weight),) for word, weight in weighed)
        trail = tuple(_edit(word, weight) for word, weight in weighed if weight != 1)
        return Query(EndpointKind.RANKED, groups, self.name, trail or (Edit("keep the claim as it is"),), Arm.LEARNED)


def _edit(word: str, weight: float) -> Edit:
    return Edit("more" if weight > 1 else "less", word, f"× {weight:g}")
