import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import brier_score_loss, roc_auc_score

from models.evaluation.reliability import auroc, brier_score, calibration_error


def some_answers(seed: int, n: int = 500) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    confidences = np.round(rng.random(n), 2)  # rounded, so that many are equal
    return confidences, rng.random(n) < confidences


def test_auroc_and_brier_equal_the_peer_library() -> None:
    confidences, right = some_answers(1)
    assert auroc(confidences, right) == pytest.approx(roc_auc_score(right, confidences))
    assert brier_score(confidences, right) == pytest.approx(brier_score_loss(right, confidences))


def test_the_calibration_error_is_computed_by_hand_in_two_bins() -> None:
    confidences = np.array([0.1, 0.3, 0.8, 1.0])
    right = np.array([True, False, True, True])
    # below .5: mean confidence .2, half right; above: .9, all right
    assert calibration_error(confidences, right, bins=2) == pytest.approx(0.5 * 0.3 + 0.5 * 0.1)


def test_honest_confidences_have_hardly_any_error() -> None:
    confidences, right = some_answers(2, n=50_000)
    assert calibration_error(confidences, right) < 0.01


def test_being_always_sure_and_half_right_is_an_error_of_a_half() -> None:
    assert calibration_error(np.ones(10), np.arange(10) % 2 == 0) == pytest.approx(0.5)
