"""Asks a costlier model which of a post's best fact-checks is the right one, where the blend is not sure.

It says which claim, not whether any: what the claims that it was asked about are worth together stays as it was, and so
does the share of "none of them". Fact-checks of one claim rise and fall together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.fact_check import FactCheck

DEPTH = 5  # fact-checks a post, as in generative matching for 2021
# Chosen on dev, where the blend gains by any weight from 4 to 8 and nothing by asking about more posts.
LEAD = 2.0  # of the best over the best that contests it, in the blend's strength: from there on it is sure
WEIGHT = 5.0  # of a nat a token

Score = Callable[[str, Sequence[FactCheck]], NDArray[np.float64]]  # of each fact-check for a post


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """`name` of the model that gives it, with its version."""

    name: str
    score: Score

    def reconsider(
        self, strengths: NDArray[np.float64], rivals: NDArray[np.bool_], post: str, facts: Sequence[FactCheck]
    ) -> NDArray[np.float64]:
        """(candidates,): the blend's strengths of a post's `facts`, those of the `DEPTH` best shared out anew by it and
        the model together if the best has a rival near by."""
        best = np.argsort(-strengths, kind="stable")[:DEPTH]
        contesting = best[rivals[best[0], best]] if len(best) else best
        if not len(contesting) or strengths[best[0]] - strengths[contesting].max() >= LEAD:
            return strengths
        claims = _claims(best, rivals)
        scores = self.score(post, [facts[number] for number in best])
        # Of a claim: that of its strongest fact-check, and its best score.
        numbers, first = np.unique(claims, return_index=True)
        gains = np.array([WEIGHT * scores[claims == claim].max() for claim in numbers])
        before = strengths[best][first]
        gains += np.logaddexp.reduce(before) - np.logaddexp.reduce(before + gains)
        shared = strengths.copy()
        shared[best] += gains[claims]
        return shared


def _claims(best: NDArray[np.intp], rivals: NDArray[np.bool_]) -> NDArray[np.intp]:
    """(best,) numbers of the claims that they check: each is put to the strongest one that it does not contest."""
    claims = np.zeros(len(best), dtype=np.intp)
    firsts: list[np.intp] = []
    for at, number in enumerate(best):
        own = next((claim for claim, first in enumerate(firsts) if not rivals[number, first]), None)
        if own is None:
            own = len(firsts)
            firsts.append(number)
        claims[at] = own
    return claims
