"""The learned policy of ranked endpoints: the claim, each of its words with a weight of its own."""

from dataclasses import dataclass

from domain.fact_check import Claim
from domain.query import Arm, Edit, EndpointKind, Query, Term
from models.rewriting.learned.weighing import Weighing


@dataclass(frozen=True, slots=True)
class LearnedRanked(Weighing):
    @property
    def name(self) -> str:
        return f"term-weights@{self.weights.version}"

    def made(self, claim: Claim, weighed: list[tuple[str, float]]) -> Query:
        groups = tuple((Term(word, weight),) for word, weight in weighed)
        trail = tuple(_edit(word, weight) for word, weight in weighed if weight != 1)
        return Query(EndpointKind.RANKED, groups, self.name, trail or (Edit("keep the claim as it is"),), Arm.LEARNED)


def _edit(word: str, weight: float) -> Edit:
    return Edit("more" if weight > 1 else "less", word, f"× {weight:g}")
