import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save
from torch import Tensor

from domain.errors import BadArtifact
from domain.query import EndpointKind
from models.artifact import write_artifact
from models.backbone import PACKAGED_SHA256
from models.rewriting.learned.retention import FOLDER, Retention
from models.rewriting.learned.term_weights import TEXTS, TermWeights, folder_of
from models.rewriting.learned.weights import FILE

Weights = dict[str, Tensor]
RETRAIN = "claimwatch retrain rewriter --endpoint boolean"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "boolean_rewriter"))


def rewrite(folder: Path, change: Callable[[Weights], object]) -> None:
    """Other weights, with a card that fits them."""
    weights = load_file(folder / FILE)
    change(weights)
    card = json.loads((folder / "card.json").read_text())
    write_artifact(folder, FILE, save(weights), card)


def refusal(folder: Path) -> str:
    with pytest.raises(BadArtifact) as refused:
        Retention.load(folder)
    assert "\n" not in str(refused.value)
    assert str(folder) in str(refused.value)
    assert RETRAIN in str(refused.value), "what to do"
    return str(refused.value)


def test_the_version_is_the_start_of_the_weights_hash(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text())
    assert Retention.load(folder).version == card["sha256"][:8] == Retention.load().version


@pytest.mark.parametrize("kind", [EndpointKind.RANKED, EndpointKind.DENSE])
@pytest.mark.parametrize("texts", TEXTS)
def test_weights_of_words_load_and_say_how_to_make_them_anew(kind: EndpointKind, texts: str, tmp_path: Path) -> None:
    card = json.loads((folder_of(kind, texts) / "card.json").read_text())
    assert TermWeights.load(kind, texts).version == card["sha256"][:8]
    with pytest.raises(BadArtifact, match=f"retrain rewriter --endpoint {kind} --texts {texts}"):
        TermWeights.load(kind, texts, tmp_path)


def test_weights_that_are_not_what_their_card_says_are_refused_with_both_hashes(folder: Path) -> None:
    expected = json.loads((folder / "card.json").read_text())["sha256"]
    content = bytearray((folder / FILE).read_bytes())
    content[-1] ^= 1
    (folder / FILE).write_bytes(content)
    said = refusal(folder)
    assert f"expected {expected}" in said
    assert "sha256 " in said.replace(expected, "")


@pytest.mark.parametrize("file", [FILE, "card.json"])
def test_a_missing_file_is_refused(folder: Path, file: str) -> None:
    (folder / file).unlink()
    assert "FileNotFoundError" in refusal(folder)


@pytest.mark.parametrize("card", ["", "[]", "{}", "null", '{"sha256":\n\n'])
def test_a_broken_card_is_refused(folder: Path, card: str) -> None:
    (folder / "card.json").write_text(card)
    refusal(folder)


def test_weights_tuned_from_another_encoder_are_refused_with_both_hashes(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text()) | {"encoder": "0" * 64}
    (folder / "card.json").write_text(json.dumps(card))
    said = refusal(folder)
    assert "0" * 64 in said
    assert PACKAGED_SHA256 in said


@pytest.mark.parametrize("part", ["words.", "ways.", "volume.", "told.", "encoder."])
def test_a_number_that_is_not_finite_is_refused_wherever_it_stands(folder: Path, part: str) -> None:
    def spoil(weights: Weights) -> None:
        next(weight for name, weight in weights.items() if name.startswith(part)).view(-1)[0] = torch.nan

    rewrite(folder, spoil)
    assert "not finite" in refusal(folder)


@pytest.mark.parametrize("part", ["words.", "ways.", "volume.", "told.", "encoder."])
def test_a_tensor_of_another_shape_is_refused(folder: Path, part: str) -> None:
    def widen(weights: Weights) -> None:
        name = next(name for name, weight in weights.items() if name.startswith(part) and weight.dim() == 2)
        weights[name] = torch.zeros(weights[name].shape[0] + 1, weights[name].shape[1] + 1)

    rewrite(folder, widen)
    assert "shape" in refusal(folder)


@pytest.mark.parametrize("part", ["words.", "ways.", "volume.", "told."])
def test_a_missing_tensor_is_refused(folder: Path, part: str) -> None:
    rewrite(folder, lambda weights: weights.pop(next(name for name in weights if name.startswith(part))))
    assert "Missing key" in refusal(folder)


def test_half_a_low_rank_change_is_refused(folder: Path) -> None:
    rewrite(folder, lambda weights: weights.pop(next(name for name in weights if name.endswith(".up"))))
    assert "shape" in refusal(folder)


def test_a_change_to_a_layer_that_the_encoder_lacks_is_refused(folder: Path) -> None:
    def rename(weights: Weights) -> None:
        for name in [name for name in weights if name.startswith("encoder.")]:
            weights[name.replace("encoder.layer.", "encoder.layer.9")] = weights.pop(name)

    rewrite(folder, rename)
    assert "which the network lacks" in refusal(folder)


def test_a_file_that_is_no_safetensors_is_refused(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text())
    write_artifact(folder, FILE, b"not what it should be\n" * 9, card)
    refusal(folder)
