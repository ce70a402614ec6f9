"""The learned policy of dense endpoints: the claim, and the words that matter once more.

An encoder takes the mean over all words, so that a word said twice counts for more. Which words matter is what the
weights for ranked search say; leaving words out loses more than it gains.
"""

from dataclasses import dataclass

from domain.fact_check import Claim
from domain.query import Arm, Edit, EndpointKind, Query, Term
from models.rewriting.learned.weighing import Weighing
from models.rewriting.words import content_word

_MATTERS = 0.9  # weight: what was near 1 when weights were quarters, as the rule was chosen on dev


@dataclass(frozen=True, slots=True)
class LearnedDense(Weighing):
    @property
    def name(self) -> str:
        return f"emphasis@{self.weights.version}"

    def made(self, claim: Claim, weighed: list[tuple[str, float]]) -> Query:
        repeated = [word for word, weight in weighed if weight >= _MATTERS and content_word(word, claim.language)]
        trail = tuple(Edit("say again", word) for word in repeated) or (Edit("keep the claim as it is"),)
        groups = tuple((Term(word),) for word in (*claim.text.split(), *repeated))
        return Query(EndpointKind.DENSE, groups, self.name, trail, Arm.LEARNED)
