import json
from pathlib import Path

import numpy as np
import pytest

from domain.errors import BadArtifact
from models.evaluation.collections import load_checkthat
from models.ranking.bm25 import BM25Ranker, FieldSettings
from models.ranking.folds import assign_folds
from models.ranking.train_bm25 import Trials, train, try_settings
from models.ranking.training_posts import training_posts
from tests.unit.models.ranking.checkthat import write_collection

PLAIN, TITLES = FieldSettings((1.0, 1.0, 0.5), 1.2, 0.6), FieldSettings((1.0, 2.0, 0.5), 0.6, 0.6)


def test_a_setting_is_measured_as_its_ranker_ranks(tmp_path: Path) -> None:
    write_collection(tmp_path)
    posts = load_checkthat(tmp_path, "train")
    trials = try_settings(posts, [PLAIN])
    keys = np.array([fact.key for fact in posts.fact_checks])
    scores = BM25Ranker(posts.fact_checks, PLAIN).score(list(posts.queries.values()), posts.fact_checks)
    first = [keys[np.lexsort((keys, -row))[0]] in gold for row, gold in zip(scores, posts.qrels.values(), strict=True)]
    assert trials.ap1[0].tolist() == first


def test_the_best_setting_is_that_of_the_posts_asked_for() -> None:
    ap = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    trials = Trials((PLAIN, TITLES), ap, ap)
    assert trials.best(np.array([True, True, True, False])) == 0
    assert trials.out_of_fold(np.array([0, 0, 1, 1])) == [TITLES, PLAIN]


def test_posts_of_one_fact_check_are_in_one_fold() -> None:
    gold = [{n // 2} for n in range(200)]
    folds = assign_folds(gold, seed=1)
    assert (folds[::2] == folds[1::2]).all()
    assert np.bincount(folds).tolist() == [40] * 5
    assert assign_folds(gold, seed=1).tolist() == folds.tolist() != assign_folds(gold, seed=2).tolist()


def test_settings_are_written_with_a_card_and_load_again(tmp_path: Path) -> None:
    write_collection(tmp_path)
    card = train(tmp_path, tmp_path / "out", seed=3, grid=[PLAIN, TITLES])
    assert FieldSettings.load(tmp_path / "out") in {PLAIN, TITLES}
    assert card == json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["command"] == f"claimwatch retrain bm25f --data {tmp_path.name} --seed 3"


def test_posts_that_another_split_holds_too_are_not_learned_from(tmp_path: Path) -> None:
    write_collection(tmp_path)
    train_posts = load_checkthat(tmp_path, "train").queries
    copied, kept = list(train_posts.items())[:2]
    (tmp_path / "test2021.queries.tsv").write_text(f"x\t{copied[1]}!\n")
    found = training_posts(tmp_path)
    assert found.left_out == 1
    assert copied[0] not in found.collection.qrels and kept[0] in found.collection.qrels
    assert len(found.gold) == len(found.collection.qrels)


def test_settings_that_are_not_the_card_s_are_refused(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(PLAIN.as_json())
    (tmp_path / "card.json").write_text(json.dumps({"sha256": "0" * 64}))
    with pytest.raises(BadArtifact, match="not what its card says"):
        FieldSettings.load(tmp_path)


def test_a_folder_without_settings_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadArtifact, match=r"holds no settings of BM25.*retrain bm25f"):
        FieldSettings.load(tmp_path)
