"""What the dates say: fact-checks are written about when the posts are that they are about.

In the product it is a weak prior only. Claims come back after years, and in the labelled data two posts of five are
of the fact-check's own day or the day before, since its author quotes just those.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

BINS = 20
WEAK = float(np.log(2))  # in the product the dates change the odds by no more than a factor of two
_SMOOTHING = 1.0  # pairs added to each bin


@dataclass(frozen=True, slots=True)
class DateOdds:
    """`odds` (bins,): log of how much likelier a right pair is than a wrong one to have its day difference, fact-check
    less post, in the bin; bin i begins at `edges[i - 1]` (bins - 1,), the first one at no end."""

    edges: NDArray[np.float32]
    odds: NDArray[np.float32]

    def full(self, posted: datetime | None, published: Sequence[datetime | None]) -> NDArray[np.float64]:
        """(fact-checks,): what the dates add to the strength of each, 0 where one is not known."""
        return self.of_days(day_differences(posted, published))

    def weak(self, posted: datetime | None, published: Sequence[datetime | None]) -> NDArray[np.float64]:
        """As `full`, by `WEAK` at most either way; and a fact-check older than the post never loses by it."""
        return self.weak_of_days(day_differences(posted, published))

    def weak_of_days(self, differences: NDArray[np.float64]) -> NDArray[np.float64]:
        bounded = np.clip(self.of_days(differences), -WEAK, WEAK)
        return np.where(differences < 0, np.maximum(bounded, 0), bounded)

    def of_days(self, differences: NDArray[np.float64]) -> NDArray[np.float64]:
        known = ~np.isnan(differences)
        found = np.zeros(len(differences))
        found[known] = self.odds[np.searchsorted(self.edges, differences[known], side="right")]
        return found


def day_differences(posted: datetime | None, published: Sequence[datetime | None]) -> NDArray[np.float64]:
    """(fact-checks,): days from the post to the fact-check, whole ones; NaN where a date is not known."""
    if posted is None:
        return np.full(len(published), np.nan)
    days = [np.nan if day is None else float((day.date() - posted.date()).days) for day in published]
    return np.array(days, dtype=np.float64)


def fit_odds(right: NDArray[np.float64], wrong: NDArray[np.float64], *, bins: int = BINS) -> DateOdds:
    """From day differences of right and wrong pairs: bins that hold equally many of the right ones, as far as whole
    days can."""
    edges = np.unique(np.ceil(np.quantile(right, np.linspace(0, 1, bins + 1)[1:-1])))
    counts = [
        np.bincount(np.searchsorted(edges, values, side="right"), minlength=len(edges) + 1) + _SMOOTHING
        for values in (right, wrong)
    ]
    odds = np.log(counts[0] / counts[0].sum()) - np.log(counts[1] / counts[1].sum())
    return DateOdds(edges.astype(np.float32), odds.astype(np.float32))
