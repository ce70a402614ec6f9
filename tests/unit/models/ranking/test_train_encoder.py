import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from domain.errors import BadArtifact
from domain.fact_check import FactCheck
from models.backbone import Encoder
from models.evaluation.collections import load_checkthat
from models.ranking.hard_negatives import mine
from models.ranking.train_encoder import HALVES, SCALE, WHOLE, Pair, loss, train
from models.retrieval.post_text import clean_post
from tests.unit.models.ranking.checkthat import write_collection

MakeFactCheck = Callable[..., FactCheck]
# Unit vectors whose products are easy to see.
VECTORS = {
    "post a": (1.0, 0.0),
    "post b": (0.0, 1.0),
    "claim a": (1.0, 0.0),
    "claim b": (0.6, 0.8),
    "wrong": (0.8, 0.6),
}


def network(texts: Sequence[str]) -> Tensor:
    return torch.tensor([VECTORS[text] for text in texts], dtype=torch.float64)


def cross_entropy(own: float, others: Sequence[float]) -> float:
    return math.log(sum(math.exp(SCALE * (other - own)) for other in (own, *others)))


def test_each_post_is_to_find_its_claim_and_each_claim_its_post() -> None:
    first = Pair("post a", "claim a", None, 1, frozenset({1}))
    second = Pair("post b", "claim b", "wrong", 2, frozenset({2}))

    forth = (cross_entropy(1.0, [0.6, 0.8]) + cross_entropy(0.8, [0.0, 0.6])) / 2
    back = (cross_entropy(1.0, [0.0]) + cross_entropy(0.8, [0.6])) / 2
    assert loss(network, [first, second]).item() == pytest.approx(forth + back)


def test_what_is_also_right_for_a_post_is_no_negative_of_it() -> None:
    first = Pair("post a", "claim a", None, 1, frozenset({1, 2}))
    second = Pair("post b", "claim b", None, 2, frozenset({2}))

    forth = (cross_entropy(1.0, []) + cross_entropy(0.8, [0.0])) / 2
    back = (cross_entropy(1.0, [0.0]) + cross_entropy(0.8, [])) / 2
    assert loss(network, [first, second]).item() == pytest.approx(forth + back)


def test_a_fact_check_of_the_same_claim_is_no_negative(make: MakeFactCheck, encoder: Encoder) -> None:
    facts = [
        make("Lindmouth banned fluoride in its tap water."),
        make("The town of Lindmouth has banned fluoride in tap water."),
        make("Lindmouth banned plastic bags in its shops."),
    ]
    assert mine(["did Lindmouth ban fluoride?"], [frozenset({0})], facts, encoder) == [[2]]


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A collection, and what was learned from it."""
    data, out = tmp_path_factory.mktemp("checkthat"), tmp_path_factory.mktemp("encoder")
    write_collection(data)
    train(data, out, seed=3, say=lambda _: None)
    return data, out


def test_a_tuned_encoder_brings_posts_and_their_fact_checks_together(tuned: tuple[Path, Path]) -> None:
    data, out = tuned
    collection = load_checkthat(data, "train")
    claims = {fact.key: fact.claim for fact in collection.fact_checks}
    posts = [clean_post(text) for text in collection.queries.values()]
    right = [claims[min(keys)] for keys in collection.qrels.values()]

    def lead(encoder: Encoder) -> float:
        """Of the right fact-check's cosine over the others' mean."""
        cosines = encoder.encode(posts) @ encoder.encode(right).T
        return float(np.diag(cosines).mean() - cosines[~np.eye(len(posts), dtype=bool)].mean())

    assert lead(Encoder.tuned(out)) > lead(Encoder.load()) + 0.01


def test_all_parts_are_there_and_the_card_tells_what_was_gained(tuned: tuple[Path, Path]) -> None:
    _, out = tuned
    versions = {Encoder.tuned(out, part).version for part in (WHOLE, *HALVES)}
    assert len(versions) == 3
    assert not list(out.glob("*.checkpoint"))
    metrics = json.loads((out / "card.json").read_text())["metrics"]
    assert metrics["dev"].keys() == metrics["train_unseen"].keys() == {"packaged", "tuned"}
    assert 0 < metrics["dev"]["packaged"]["map1"] <= metrics["dev"]["packaged"]["map5"] <= 1
    with pytest.raises(BadArtifact, match="there are none of third"):
        Encoder.tuned(out, "third")


def test_damaged_changes_are_refused(tuned: tuple[Path, Path], tmp_path: Path) -> None:
    _, out = tuned
    (tmp_path / "card.json").write_text((out / "card.json").read_text())
    (tmp_path / "model.safetensors").write_bytes((out / "model.safetensors").read_bytes()[:-1] + b"?")
    with pytest.raises(BadArtifact, match=r"is not what its card says: sha256 .* retrain encoder"):
        Encoder.tuned(tmp_path)
