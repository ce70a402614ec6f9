import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from domain.errors import BadArtifact
from models.backbone import PACKAGED_SHA256
from models.ranking.calibration import Calibration
from models.ranking.dates import DateOdds
from models.ranking.evidence import FEATURES, MODES, Evidence
from models.ranking.post_words import Mode
from models.retrieval.fusion import Candidates

NO_DATES = DateOdds(np.zeros(0, dtype=np.float32), np.zeros(1, dtype=np.float32))
WEIGHTS = [1, 2, 0, 0, 1, 0.1, 0, -3.0]
LIKELY = [1.5, 0.5, 0.5, 0.5, 0.4, 20.0, 0.5]


def evidence(features: list[list[float]], *, same_claim: bool = False) -> Evidence:
    n = len(features)
    none: NDArray[np.float32] = np.zeros(n, dtype=np.float32)
    rivals = np.zeros((n, n), dtype=np.bool_) if same_claim else ~np.eye(n, dtype=np.bool_)
    return Evidence(Candidates(np.arange(n), none, none, none), np.array(features, dtype=np.float32), rivals)


def calibration(full: list[float], lexical: list[float] | None = None) -> Calibration:
    everywhere, elsewhere = (np.array(w, dtype=np.float32) for w in (full, lexical or full))
    return Calibration("test", "1", "encoder", {"full": everywhere, "lexical": elsewhere}, NO_DATES)


def test_one_candidate_has_the_logistic_of_its_strength() -> None:
    confidence = calibration(WEIGHTS).confidence(evidence([[0.5, 0.5, 9, 9, 0.25, 10, 9]]))
    assert confidence.tolist() == pytest.approx([1 / (1 + np.exp(-(0.5 + 1 + 0.25 + 1 - 3)))])


def test_a_prior_is_added_to_the_strengths() -> None:
    model, found = calibration(WEIGHTS), evidence([LIKELY] * 2)
    plain = model.strengths(found)
    assert (model.strengths(found, prior=np.array([1.0, -1.0])) - plain).tolist() == pytest.approx([1, -1])
    assert model.confidence(found, prior=2.0)[0] > model.confidence(found)[0]


def test_rivals_share_the_belief() -> None:
    two = calibration([0.0] * 7 + [2.0]).confidence(evidence([[0] * 7] * 2))
    assert two.tolist() == pytest.approx([np.exp(2) / (1 + 2 * np.exp(2))] * 2)


def test_fact_checks_of_the_same_claim_do_not_weaken_each_other() -> None:
    features = [LIKELY] * 2
    weights = calibration(WEIGHTS)
    alone = weights.confidence(evidence(features[:1]))
    both = weights.confidence(evidence(features, same_claim=True))
    assert both.tolist() == pytest.approx([*alone, *alone])


def test_no_candidate_gives_no_confidence() -> None:
    nothing = Evidence(
        evidence([]).candidates, np.zeros((0, len(FEATURES)), dtype=np.float32), np.zeros((0, 0), dtype=np.bool_)
    )
    assert Calibration.load().confidence(nothing).shape == (0,)


def test_an_extreme_strength_is_still_a_probability() -> None:
    confidence = calibration([1e6, *[0.0] * 7]).confidence(evidence([[1, *[0] * 6], [-1, *[0] * 6]]))
    assert confidence.tolist() == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("multilingual", [False, True])
def test_nothing_that_speaks_for_a_match_lowers_the_packaged_confidence(*, multilingual: bool, mode: Mode) -> None:
    packaged = Calibration.load(multilingual=multilingual)
    base = packaged.confidence(evidence([LIKELY]), mode=mode)[0]
    grown = []
    for place in range(len(FEATURES)):
        better = [value * (1.2 if place == n else 1) for n, value in enumerate(LIKELY)]
        grown.append(packaged.confidence(evidence([better]), mode=mode)[0])
    assert min(grown) >= base
    assert sum(value > base for value in grown) >= 2


@pytest.mark.parametrize("mode", MODES)
def test_what_does_not_count_in_a_mode_has_no_say(mode: Mode) -> None:
    packaged = Calibration.load(multilingual=True)
    other = [value if name in MODES[mode] else 0.0 for name, value in zip(FEATURES, LIKELY, strict=True)]
    near, far = (packaged.confidence(evidence([features]), mode=mode)[0] for features in (LIKELY, other))
    assert near == far


def test_a_second_encoder_has_a_say_beside_the_multilingual_one_only() -> None:
    at = FEATURES.index("companion")
    alone, both = (Calibration.load(multilingual=multilingual).weights["full"][at] for multilingual in (False, True))
    assert alone == 0
    assert both > 1


def test_the_packaged_weights_are_those_of_the_card_and_of_the_packaged_encoder() -> None:
    card = json.loads((Path("models") / "weights" / "calibration" / "card.json").read_text())
    packaged = Calibration.load()
    assert packaged.weights["full"].tolist() == pytest.approx(card["weights"]["full"], abs=1e-3)
    assert PACKAGED_SHA256.startswith(packaged.encoder)


@pytest.mark.parametrize("name", ["calibration", "calibration_multilingual"])
def test_the_card_meets_what_a_confidence_must_reach(name: str) -> None:
    metrics = json.loads((Path("models") / "weights" / name / "card.json").read_text())["metrics"]
    large, small = (metrics["dev"]["full"][size] for size in ("large", "small"))
    assert large["calibration_error"] <= 0.08
    assert metrics["train_out_of_fold"]["large"]["calibration_error"] <= 0.05
    assert large["auroc"] >= 0.90
    assert small["unknown_above_.1"] <= 0.03


def test_weights_that_are_not_the_card_s_are_refused(tmp_path: Path) -> None:
    save_file({"full": np.zeros(4, dtype=np.float32)}, tmp_path / "model.safetensors")
    (tmp_path / "card.json").write_text(json.dumps({"sha256": "0" * 64, "features": list(FEATURES)}))
    with pytest.raises(BadArtifact, match="not what its card says"):
        Calibration.load(tmp_path)


def test_a_folder_without_a_calibration_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadArtifact, match=r"holds no calibration.*retrain"):
        Calibration.load(tmp_path)
