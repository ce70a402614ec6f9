"""The learned policy of dense endpoints: the claim, in which the words that matter are said twice.

An encoder takes the mean over all words, so that a word said twice counts for more. Said where it stands, it leaves the
sentence what it was; at the end it gains less, and leaving words out loses more than it gains.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import Claim
from domain.query import Arm, Edit, EndpointKind, Query, Term
from models.rewriting.learned.claim_words import ClaimWord
from models.rewriting.learned.weighing import Weighing

_MATTERS = 0.4  # logarithm of a weight, chosen on claims of other pages than those that were learned from


@dataclass(frozen=True, slots=True)
class LearnedDense(Weighing):
    @property
    def name(self) -> str:
        return f"emphasis@{self.weights.version}"

    def made(self, claim: Claim, words: Sequence[ClaimWord], logs: NDArray[np.float32]) -> Query:
        text, repeated = said_again(claim.text, words, logs)
        trail = tuple(Edit("say again", word) for word in repeated) or (Edit("keep the claim as it is"),)
        groups = tuple((Term(word),) for word in text.split())
        return Query(EndpointKind.DENSE, groups, self.name, trail, Arm.LEARNED)


def said_again(text: str, words: Sequence[ClaimWord], logs: NDArray[np.float32]) -> tuple[str, list[str]]:
    """The text with every word that matters twice, and these words."""
    matter = [word for word, log in zip(words, logs.tolist(), strict=True) if log > _MATTERS]
    parts, last = list[str](), 0
    for word in matter:
        parts += [text[last : word.end], f" {word.text}"]
        last = word.end
    return "".join([*parts, text[last:]]), [word.text for word in matter]
