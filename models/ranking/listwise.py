"""Fits the weights of a conditional logit with "none of them": each post's right candidate against its others.

First the direction, by which candidates are ranked, with a pull towards 0 that keeps weights of features that say
nearly the same alike; then its length and the constant without that pull, so that a confidence is not too modest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from models.ranking.evidence import CANDIDATES, FEATURES, MODES, Evidence
from models.ranking.post_words import Mode

_RIDGE = 1e-2  # pull of the weights of standardised features


@dataclass(frozen=True, slots=True)
class Example:
    """A post beside a collection: what speaks for its candidates, and which of them is right (none: all False)."""

    evidence: Evidence
    right: NDArray[np.bool_]  # (candidates,)
    known: bool  # whether the right fact-check is in the collection
    days: NDArray[np.float64]  # (candidates,) from the post to the fact-check, NaN where a date is not known
    gold: int  # how many right ones there are, among the candidates or not


@dataclass(frozen=True, slots=True)
class _Stacked:
    features: torch.Tensor  # (N, C, F)
    present: torch.Tensor  # (N, C)
    right: torch.Tensor  # (N, C)
    rivals: torch.Tensor  # (N, C, C)


def fit(examples: Sequence[Example], *, mode: Mode = "full") -> NDArray[np.float32]:
    """Weights (FEATURES + 1,) of the greatest likelihood of the right answer, the last one the constant.

    In double precision, so that the optimum does not depend on the order of sums. Only what counts in the mode weighs.
    A feature that would speak against a match is left out, since what it says is then only a correction of the others.
    """
    stacked = _stack(examples)
    used = torch.tensor([name in MODES[mode] for name in FEATURES])
    while True:
        weights = _fit(stacked, used)
        if (weights[:-1] >= 0).all():
            return weights
        used = used & torch.from_numpy(weights[:-1] >= 0)


def negative_log_likelihood(
    strengths: torch.Tensor, present: torch.Tensor, right: torch.Tensor, rivals: torch.Tensor
) -> torch.Tensor:
    """Mean over posts of -log p(right candidate), or of -log p(none) where no candidate is right."""
    odds = torch.where(present, strengths, -50.0).exp()  # (N, C)
    contest = 1 + odds + (rivals @ odds[..., None])[..., 0]
    of_right = ((odds / contest) * right).sum(1)
    of_none = 1 / (1 + odds.sum(1))
    return -torch.where(right.any(1), of_right, of_none).clamp_min(1e-9).log().mean()


def _fit(stacked: _Stacked, used: torch.Tensor) -> NDArray[np.float32]:
    present = stacked.features[stacked.present]
    mean, deviation = present.mean(0), present.std(0)
    deviation = torch.where(deviation > 0, deviation, 1.0)
    standard = replace(stacked, features=(stacked.features - mean) / deviation * used)
    direction = _minimise(standard, ridge=_RIDGE)[:-1]
    along = replace(standard, features=(standard.features @ direction)[..., None])
    length, constant = _minimise(along, ridge=0.0)
    weights = direction * length / deviation * used
    fitted: NDArray[np.float32] = torch.cat([weights, (constant - (weights * mean).sum())[None]]).float().numpy()
    return fitted


def _minimise(stacked: _Stacked, *, ridge: float) -> torch.Tensor:
    """(features + 1,), by L-BFGS."""
    parameters = torch.zeros(stacked.features.shape[-1] + 1, requires_grad=True, dtype=torch.float64)
    optimiser = torch.optim.LBFGS(
        [parameters], max_iter=500, tolerance_grad=1e-9, tolerance_change=1e-12, line_search_fn="strong_wolfe"
    )

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        strengths = stacked.features @ parameters[:-1] + parameters[-1]
        loss = negative_log_likelihood(strengths, stacked.present, stacked.right, stacked.rivals)
        loss = loss + ridge * (parameters[:-1] ** 2).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimiser.step(closure)  # type: ignore[no-untyped-call]
    return parameters.detach()


def _stack(examples: Sequence[Example]) -> _Stacked:
    shape = (len(examples), CANDIDATES)
    features = torch.zeros((*shape, len(FEATURES)), dtype=torch.float64)
    rivals = torch.zeros((*shape, CANDIDATES), dtype=torch.float64)
    present, right = torch.zeros(shape, dtype=torch.bool), torch.zeros(shape, dtype=torch.bool)
    for row, example in enumerate(examples):
        n = len(example.right)
        features[row, :n] = torch.from_numpy(example.evidence.features)
        rivals[row, :n, :n] = torch.from_numpy(example.evidence.rivals)
        present[row, :n], right[row, :n] = True, torch.from_numpy(example.right)
    return _Stacked(features, present, right, rivals)
