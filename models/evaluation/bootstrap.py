"""How far a mean over a few hundred queries can be trusted."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DRAWS = 10_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with the bounds between which 95 % of the resampled means lie."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def mean_interval(values: Mapping[str, float], *, seed: int, draws: int = DRAWS) -> Interval:
    """The mean over queries and its interval by resampling the queries."""
    return _interval(np.array([values[query] for query in sorted(values)]), seed=seed, draws=draws)


def paired_interval(
    ours: Mapping[str, float], theirs: Mapping[str, float], *, seed: int, draws: int = DRAWS
) -> Interval:
    """The mean gain of `ours` over `theirs` on the same queries; an interval above 0 is a gain."""
    if ours.keys() != theirs.keys():
        raise ValueError("a paired comparison needs the same queries on both sides")
    return _interval(np.array([ours[q] - theirs[q] for q in sorted(ours)]), seed=seed, draws=draws)


def _interval(values: NDArray[np.float64], *, seed: int, draws: int) -> Interval:
    if not len(values):
        return Interval(0.0, 0.0, 0.0)
    rng = np.random.default_rng(seed)
    means = np.array([values[rng.integers(0, len(values), len(values))].mean() for _ in range(draws)])
    low, high = np.quantile(means, (0.025, 0.975))
    return Interval(float(values.mean()), float(low), float(high))
