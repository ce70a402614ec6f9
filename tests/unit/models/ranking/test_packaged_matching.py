"""The committed weights still score what their cards say, where the data is at hand."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from models.evaluation.collections import load_checkthat
from models.ranking.bm25 import FieldSettings
from models.ranking.calibration import Calibration
from models.ranking.train_bm25 import try_settings

WEIGHTS = Path("models") / "weights"
DATA = Path(os.environ.get("CLAIMWATCH_DATA", "../shared/data")) / "checkthat2022"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="CheckThat! is not on this machine")


@needs_data
def test_the_packaged_settings_of_bm25_score_on_dev_what_their_card_says() -> None:
    card = json.loads((WEIGHTS / "bm25f" / "card.json").read_text())
    trials = try_settings(load_checkthat(DATA, "dev"), [FieldSettings.load()])
    figures = {"map1": float(trials.ap1.mean()), "map5": float(trials.ap5.mean())}
    assert figures == pytest.approx(card["metrics"]["dev"], abs=1e-3)


def test_the_packaged_blend_is_better_than_its_parts_and_says_so_on_its_card() -> None:
    blend = json.loads((WEIGHTS / "calibration" / "card.json").read_text())["metrics"]
    words = json.loads((WEIGHTS / "bm25f" / "card.json").read_text())["metrics"]
    assert blend["train_out_of_fold"]["large"]["map5"] > words["train_out_of_fold"]["map5"] + 0.03
    assert blend["dev"]["full"]["large"]["map5"] > words["dev"]["map5"] + 0.03


def test_the_packaged_dates_speak_for_near_days() -> None:
    dates = Calibration.load().dates
    near, far = dates.of_days(np.array([0.0, 1.0, 2000.0]))[:2], dates.of_days(np.array([-3000.0, 2000.0]))
    assert near.min() > 1 > far.max()
