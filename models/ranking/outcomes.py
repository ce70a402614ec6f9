"""What a calibration makes of examples: rankings and confidences, to be measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.evaluation.metrics import average_precision
from models.evaluation.reliability import auroc, brier_score, calibration_error
from models.ranking.calibration import Calibration
from models.ranking.listwise import Example
from models.ranking.post_words import Mode


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Of each example: the confidence of its best candidate, whether that is right, whether a right one was there."""

    confidence: NDArray[np.float64]
    right: NDArray[np.bool_]
    known: NDArray[np.bool_]


def outcomes(calibration: Calibration, examples: Sequence[Example], *, mode: Mode = "full") -> Outcomes:
    confidences = [calibration.confidence(example.evidence, mode=mode) for example in examples]
    best = np.array([c.max() for c in confidences])
    right = np.array([example.right[c.argmax()] for example, c in zip(examples, confidences, strict=True)])
    return Outcomes(best, right, np.array([example.known for example in examples]))


def measure(found: Outcomes) -> dict[str, float]:
    """How confidences fare, on posts with and without their fact-check half and half.

    `auroc`: telling posts whose fact-check is there from those whose it is not. `precision` and `recall`: of answers
    with a confidence of .5 or more, over the former posts. `unknown_above_.1`: share of the latter with more than that.
    """
    sure = found.confidence >= 0.5
    figures = {
        "calibration_error": calibration_error(found.confidence, found.right),
        "brier": brier_score(found.confidence, found.right),
        "auroc": auroc(found.confidence, found.known),
        "precision": float(found.right[sure].mean()) if sure.any() else 0.0,
        "recall": float((found.right & sure).sum() / found.known.sum()),
        "unknown_above_.1": float((found.confidence[~found.known] > 0.1).mean()),
    }
    return {name: round(value, 4) for name, value in figures.items()}


def pooled(parts: Sequence[Outcomes]) -> Outcomes:
    return Outcomes(
        np.concatenate([part.confidence for part in parts]),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.known for part in parts]),
    )


def means(values: Mapping[str, Sequence[float]]) -> dict[str, float]:
    return {name: round(float(np.mean(of_posts)), 4) for name, of_posts in values.items()}


def precisions(calibration: Calibration, examples: Sequence[Example], *, mode: Mode = "full") -> dict[str, list[float]]:
    """AP@1 and AP@5 of the posts whose fact-check is there: without dates, with them, and with them as weak as in the
    product."""
    known = [example for example in examples if example.known]
    dates = calibration.dates
    return {
        f"map{k}{name}": [_precision(calibration, e, prior(e.days), k, mode=mode) for e in known]
        for name, prior in (("", _none), ("_dates", dates.of_days), ("_weak_dates", dates.weak_of_days))
        for k in (1, 5)
    }


def _none(days: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.zeros(len(days))


def _precision(calibration: Calibration, example: Example, prior: NDArray[np.float64], k: int, *, mode: Mode) -> float:
    strengths = calibration.strengths(example.evidence, mode=mode, prior=prior)
    order = np.argsort(-strengths, kind="stable")
    relevant = {str(n) for n in np.flatnonzero(example.right)}
    if not relevant:
        return 0.0
    return average_precision(k)([str(n) for n in order], relevant) * len(relevant) / example.gold
