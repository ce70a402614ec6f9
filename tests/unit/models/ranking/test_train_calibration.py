import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from models.backbone import Encoder
from models.ranking.calibration import Calibration
from models.ranking.dates import DateOdds
from models.ranking.evidence import FEATURES, MODES, Evidence
from models.ranking.listwise import Example, fit, negative_log_likelihood
from models.ranking.outcomes import measure, outcomes, precisions
from models.ranking.post_words import Mode
from models.ranking.train_calibration import fit_dates, train
from models.retrieval.fusion import Candidates
from tests.unit.models.ranking.checkthat import write_collection

TRUE_WEIGHTS = np.array([2.0, 3.0, 1.5, 2.5, 1.0, 0.1, 2.0, -8.0])
NO_DATES = DateOdds(np.zeros(0, dtype=np.float32), np.zeros(1, dtype=np.float32))


def drawn_examples(n: int, seed: int) -> list[Example]:
    """Posts whose right answer, "none" included, is drawn with the chances that TRUE_WEIGHTS give."""
    rng = np.random.default_rng(seed)
    examples = []
    for _ in range(n):
        features = rng.random((4, 7)) * (1, 1, 1, 1, 1, 40, 1)
        odds = np.append(np.exp(features @ TRUE_WEIGHTS[:-1] + TRUE_WEIGHTS[-1]), 1)
        answer = rng.choice(5, p=odds / odds.sum())
        none = np.zeros(4, dtype=np.float32)
        evidence = Evidence(
            Candidates(np.arange(4), none, none, none), features.astype(np.float32), ~np.eye(4, dtype=np.bool_)
        )
        right = np.arange(4) == answer
        days = np.where(right, rng.integers(0, 5, 4), rng.integers(-2000, 2000, 4)).astype(np.float64)
        examples.append(Example(evidence, right, known=bool(answer < 4), days=days, gold=1))
    return examples


def test_the_weights_that_made_the_answers_are_found() -> None:
    assert fit(drawn_examples(20_000, seed=1)).tolist() == pytest.approx(TRUE_WEIGHTS, rel=0.15)


@pytest.mark.parametrize("mode", MODES)
def test_only_what_counts_in_a_mode_gets_a_weight(mode: Mode) -> None:
    weights = fit(drawn_examples(500, seed=1), mode=mode)
    assert [name for name, weight in zip(FEATURES, weights, strict=False) if weight > 0] == [
        name for name in FEATURES if name in MODES[mode]
    ]


def test_the_same_examples_give_the_same_weights() -> None:
    first, second = (fit(drawn_examples(300, seed=2)) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_confidences_of_a_fit_are_as_good_as_they_say() -> None:
    weights = fit(drawn_examples(5_000, seed=3))
    calibration = Calibration("test", "1", "none", {"full": weights}, NO_DATES)
    found = outcomes(calibration, drawn_examples(5_000, seed=4))
    assert measure(found)["calibration_error"] < 0.03


def test_a_feature_that_speaks_against_a_match_is_left_out() -> None:
    examples = drawn_examples(2_000, seed=5)
    for example in examples:
        example.evidence.features[:, 0] *= -1
    assert fit(examples)[0] == 0


def test_dates_that_tell_right_from_wrong_are_learned_and_rank() -> None:
    examples = drawn_examples(2_000, seed=6)
    flat = np.zeros(8, dtype=np.float32)
    calibration = Calibration("test", "1", "none", {"full": flat}, fit_dates(examples))
    found = precisions(calibration, drawn_examples(500, seed=7))
    plain, dated, weak = (float(np.mean(found[f"map1{name}"])) for name in ("", "_dates", "_weak_dates"))
    assert plain < 0.4
    assert dated > 0.85 and weak > 0.7


def test_a_right_fact_check_that_is_no_candidate_counts_as_missed() -> None:
    (example, *_) = drawn_examples(1, seed=8)
    missed = replace(example, right=np.zeros(4, dtype=np.bool_), known=True)
    flat = np.zeros(8, dtype=np.float32)
    assert precisions(Calibration("t", "1", "", {"full": flat}, NO_DATES), [missed])["map5"] == [0.0]


def test_the_loss_of_two_posts_is_computed_by_hand() -> None:
    strengths = torch.tensor([[1.0, 0.0], [2.0, 0.0]], dtype=torch.float64)
    present = torch.tensor([[True, True], [True, False]])
    right = torch.tensor([[True, False], [False, False]])
    rivals = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]] * 2, dtype=torch.float64)
    # the first post's first candidate is right; the second post has one candidate, and "none" is right
    expected = -(np.log(np.exp(1) / (1 + np.exp(1) + 1)) + np.log(1 / (1 + np.exp(2)))) / 2
    assert float(negative_log_likelihood(strengths, present, right, rivals)) == pytest.approx(expected)


def test_training_writes_weights_that_load_and_a_card_that_tells_how(tmp_path: Path, encoder: Encoder) -> None:
    write_collection(tmp_path)
    card = train(tmp_path, tmp_path / "out", seed=3, encoder=encoder)
    loaded = Calibration.load(tmp_path / "out")
    assert card == json.loads((tmp_path / "out" / "card.json").read_text())
    assert loaded.weights["full"].tolist() == pytest.approx(card["weights"]["full"], abs=1e-3)
    assert (card["seed"], card["encoder"]) == (3, encoder.version)
    assert card["command"].endswith("--seed 3")
    assert card["metrics"].keys() == {"dev", "train_out_of_fold"}
    assert card["metrics"]["dev"].keys() == set(MODES)
    assert card["metrics"]["train_out_of_fold"]["large"]["map5"] > 0.5
    assert (card["posts"], card["left_out_as_near_duplicates"]) == (8, 0)
