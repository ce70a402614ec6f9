"""Whether confidences mean what they say."""

import numpy as np
from numpy.typing import NDArray

Confidences = NDArray[np.float64]  # (n,) between 0 and 1
Outcomes = NDArray[np.bool_]  # (n,) whether each was right


def calibration_error(confidences: Confidences, right: Outcomes, *, bins: int = 10) -> float:
    """Expected calibration error: |mean confidence - share right| in bins of equal width, weighted by their size
    (Guo et al. 2017, equation 3)."""
    places = np.minimum((confidences * bins).astype(int), bins - 1)
    gaps = np.bincount(places, weights=confidences - right, minlength=bins)
    return float(np.abs(gaps).sum() / len(confidences))


def brier_score(confidences: Confidences, right: Outcomes) -> float:
    """Mean squared distance from the outcome, 0 … 1."""
    return float(np.mean((confidences - right) ** 2))


def auroc(confidences: Confidences, right: Outcomes) -> float:
    """Chance that a right one has the greater confidence than a wrong one; equal ones count half."""
    _, ranks, counts = np.unique(confidences, return_inverse=True, return_counts=True)
    mid_ranks = (np.cumsum(counts) - (counts - 1) / 2)[ranks]
    positives, negatives = int(right.sum()), int((~right).sum())
    return float((mid_ranks[right].sum() - positives * (positives + 1) / 2) / (positives * negatives))
