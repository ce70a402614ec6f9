import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from models.backbone import Encoder
from models.ranking.calibration import Calibration
from models.ranking.evidence import FEATURES, Evidence
from models.ranking.train_calibration import Example, _negative_log_likelihood, fit, measure, train
from models.retrieval.fusion import Candidates

TRUE_WEIGHTS = np.array([3.0, 1.0, 0.1, -4.0])


def drawn_examples(n: int, seed: int) -> list[Example]:
    """Posts whose right answer, "none" included, is drawn with the chances that TRUE_WEIGHTS give."""
    rng = np.random.default_rng(seed)
    examples = []
    for _ in range(n):
        features = rng.random((4, 3)) * (1, 1, 40)
        odds = np.append(np.exp(features @ TRUE_WEIGHTS[:-1] + TRUE_WEIGHTS[-1]), 1)
        answer = rng.choice(5, p=odds / odds.sum())
        none = np.zeros(4, dtype=np.float32)
        evidence = Evidence(
            Candidates(np.arange(4), none, none, none), features.astype(np.float32), ~np.eye(4, dtype=np.bool_)
        )
        examples.append(Example(evidence, np.arange(4) == answer, known=bool(answer < 4)))
    return examples


def test_the_weights_that_made_the_answers_are_found() -> None:
    assert fit(drawn_examples(20_000, seed=1), lexical=False).tolist() == pytest.approx(TRUE_WEIGHTS, rel=0.1)


def test_a_lexical_fit_gives_the_cosine_no_weight() -> None:
    weights = fit(drawn_examples(500, seed=1), lexical=True)
    assert weights[FEATURES.index("cosine")] == 0
    assert (weights[1:3] > 0).all()


def test_the_same_examples_give_the_same_weights() -> None:
    first, second = (fit(drawn_examples(300, seed=2), lexical=False) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_confidences_of_a_fit_are_as_good_as_they_say() -> None:
    weights = fit(drawn_examples(5_000, seed=3), lexical=False)
    calibration = Calibration("test", "1", "none", weights, weights)
    assert measure(calibration, drawn_examples(5_000, seed=4), lexical=False)["calibration_error"] < 0.03


def test_the_loss_of_two_posts_is_computed_by_hand() -> None:
    strengths = torch.tensor([[1.0, 0.0], [2.0, 0.0]], dtype=torch.float64)
    present = torch.tensor([[True, True], [True, False]])
    right = torch.tensor([[True, False], [False, False]])
    rivals = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]] * 2, dtype=torch.float64)
    # the first post's first candidate is right; the second post has one candidate, and "none" is right
    expected = -(np.log(np.e / (1 + np.e + 1)) + np.log(1 / (1 + np.e**2))) / 2
    assert float(_negative_log_likelihood(strengths, present, right, rivals)) == pytest.approx(expected)


def write_collection(folder: Path) -> None:
    towns = ["Lindmouth", "Eskerby", "Tarrowby", "Pellwick", "Varnholm", "Ambersley"]
    deeds = ["banned fluoride", "closed the bridge", "sold plastic rice", "taxed all cats", "shot the starlings"]
    claims = [f"{town} {deed}." for town in towns for deed in deeds] * 2
    with gzip.open(folder / "vclaims.jsonl.gz", "wt") as file:
        for number, claim in enumerate(claims):
            record = {"vclaim_id": f"v{number}", "vclaim": claim, "title": "", "subtitle": "", "date": ""}
            file.write(json.dumps(record) + "\n")
    for split, start in (("train", 0), ("dev", 20)):
        posts = [(f"t{n}", f"so they {claims[n].lower()[:-1]} now", f"v{n}") for n in range(start, start + 8)]
        (folder / f"{split}.queries.tsv").write_text("".join(f"{id_}\t{text}\n" for id_, text, _ in posts))
        (folder / f"{split}.qrels.tsv").write_text("".join(f"{id_}\t0\t{key}\t1\n" for id_, _, key in posts))


def test_training_writes_weights_that_load_and_a_card_that_tells_how(tmp_path: Path, encoder: Encoder) -> None:
    write_collection(tmp_path)
    card = train(tmp_path, tmp_path / "out", seed=3, encoder=encoder)
    loaded = Calibration.load(tmp_path / "out")
    assert card == json.loads((tmp_path / "out" / "card.json").read_text())
    assert loaded.full.tolist() == pytest.approx(card["weights"]["full"], abs=1e-3)
    assert (card["seed"], card["encoder"]) == (3, encoder.version)
    assert card["command"].endswith("--seed 3")
    assert card["metrics"].keys() == {"full", "lexical"}
