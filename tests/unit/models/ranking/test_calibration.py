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
from models.ranking.evidence import FEATURES, LEXICAL, Evidence
from models.retrieval.fusion import Candidates

NO_DATES = DateOdds(np.zeros(0, dtype=np.float32), np.zeros(1, dtype=np.float32))
WEIGHTS = [1, 2, 0, 0, 1, 0.1, -3.0]
LIKELY = [1.5, 0.5, 0.5, 0.5, 0.4, 20.0]


def evidence(features: list[list[float]], *, same_claim: bool = False) -> Evidence:
    n = len(features)
    none: NDArray[np.float32] = np.zeros(n, dtype=np.float32)
    rivals = np.zeros((n, n), dtype=np.bool_) if same_claim else ~np.eye(n, dtype=np.bool_)
    return Evidence(Candidates(np.arange(n), none, none, none), np.array(features, dtype=np.float32), rivals)


def calibration(full: list[float], lexical: list[float] | None = None) -> Calibration:
    everywhere, elsewhere = (np.array(w, dtype=np.float32) for w in (full, lexical or full))
    return Calibration("test", "1", "encoder", everywhere, elsewhere, NO_DATES)


def test_one_candidate_has_the_logistic_of_its_strength() -> None:
    confidence = calibration(WEIGHTS).confidence(evidence([[0.5, 0.5, 9, 9, 0.25, 10]]), lexical=False)
    assert confidence.tolist() == pytest.approx([1 / (1 + np.exp(-(0.5 + 1 + 0.25 + 1 - 3)))])


def test_a_prior_is_added_to_the_strengths() -> None:
    model, found = calibration(WEIGHTS), evidence([LIKELY] * 2)
    plain = model.strengths(found, lexical=False)
    assert (model.strengths(found, lexical=False, prior=np.array([1.0, -1.0])) - plain).tolist() == pytest.approx(
        [1, -1]
    )
    assert model.confidence(found, lexical=False, prior=2.0)[0] > model.confidence(found, lexical=False)[0]


def test_rivals_share_the_belief() -> None:
    two = calibration([0.0] * 6 + [2.0]).confidence(evidence([[0] * 6] * 2), lexical=False)
    assert two.tolist() == pytest.approx([np.exp(2) / (1 + 2 * np.exp(2))] * 2)


def test_fact_checks_of_the_same_claim_do_not_weaken_each_other() -> None:
    features = [LIKELY] * 2
    weights = calibration(WEIGHTS)
    alone = weights.confidence(evidence(features[:1]), lexical=False)
    both = weights.confidence(evidence(features, same_claim=True), lexical=False)
    assert both.tolist() == pytest.approx([*alone, *alone])


def test_no_candidate_gives_no_confidence() -> None:
    nothing = Evidence(
        evidence([]).candidates, np.zeros((0, len(FEATURES)), dtype=np.float32), np.zeros((0, 0), dtype=np.bool_)
    )
    assert Calibration.load().confidence(nothing, lexical=False).shape == (0,)


def test_an_extreme_strength_is_still_a_probability() -> None:
    confidence = calibration([1e6, 0, 0, 0, 0, 0, 0]).confidence(
        evidence([[1, *[0] * 5], [-1, *[0] * 5]]), lexical=False
    )
    assert confidence.tolist() == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize("lexical", [False, True])
def test_nothing_that_speaks_for_a_match_lowers_the_packaged_confidence(*, lexical: bool) -> None:
    packaged = Calibration.load()
    base = packaged.confidence(evidence([LIKELY]), lexical=lexical)[0]
    grown = []
    for place in range(len(FEATURES)):
        better = [value * (1.2 if place == n else 1) for n, value in enumerate(LIKELY)]
        grown.append(packaged.confidence(evidence([better]), lexical=lexical)[0])
    assert min(grown) >= base
    assert sum(value > base for value in grown) >= 2


def test_without_the_encoder_only_words_have_a_say() -> None:
    packaged = Calibration.load()
    other = [value if name in LEXICAL else 0.0 for name, value in zip(FEATURES, LIKELY, strict=True)]
    near, far = (packaged.confidence(evidence([features]), lexical=True)[0] for features in (LIKELY, other))
    assert near == far


def test_the_packaged_weights_are_those_of_the_card_and_of_the_packaged_encoder() -> None:
    card = json.loads((Path("models") / "weights" / "calibration" / "card.json").read_text())
    packaged = Calibration.load()
    assert packaged.full.tolist() == pytest.approx(card["weights"]["full"], abs=1e-3)
    assert PACKAGED_SHA256.startswith(packaged.encoder)


def test_the_card_meets_what_a_confidence_must_reach() -> None:
    metrics = json.loads((Path("models") / "weights" / "calibration" / "card.json").read_text())["metrics"]
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
