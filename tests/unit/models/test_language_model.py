import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers

from domain.errors import BadArtifact
from models.language_model import LanguageModel
from models.low_rank import DOWN, UP
from models.ranking.generative import tuned_model

WORDS = ("<end>", "Claim", "Tweet", ":", "the", "cat", "dog", "barks", "sleeps", "tonight", "?")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small GPT-Neo of random weights, as its makers' library saves one."""
    from transformers import GPTNeoConfig, GPTNeoForCausalLM

    torch.manual_seed(0)
    made = tmp_path_factory.mktemp("gpt-neo")
    config = GPTNeoConfig(
        vocab_size=len(WORDS), hidden_size=16, num_layers=2, num_heads=2, attention_types=[[["global", "local"], 1]],
        max_position_embeddings=64, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    GPTNeoForCausalLM(config).save_pretrained(made)
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(made / "tokenizer.json"))
    return made


@pytest.fixture(scope="module")
def model(folder: Path) -> LanguageModel:
    return LanguageModel.load(folder)


def in_one_pass(model: LanguageModel, first: list[int], second: list[int]) -> tuple[float, float]:
    with torch.inference_mode():
        logs = model.network(torch.tensor([first + second])).logits[0].log_softmax(-1)
    following = torch.tensor((first + second)[1:])
    found = logs[:-1].gather(1, following[:, None])[:, 0]
    return float(found[: len(first) - 1].mean()), float(found[len(first) :].mean())


def test_a_prefix_that_is_read_once_gives_what_one_pass_over_each_pair_gives(model: LanguageModel) -> None:
    claim = model.segment("Claim", "the cat sleeps")
    posts = [model.segment("Tweet", text) for text in ("the dog barks", "tonight the cat sleeps the cat", "dog")]

    found = model.likelihoods(claim, posts)

    expected = [in_one_pass(model, claim, post) for post in posts]
    assert found.first == pytest.approx(expected[0][0], abs=1e-4)
    assert found.seconds == pytest.approx([second for _, second in expected], abs=1e-4)


def test_neighbours_do_not_change_a_likelihood(model: LanguageModel) -> None:
    claim, post = model.segment("Claim", "the cat sleeps"), model.segment("Tweet", "the dog barks")
    others = [model.segment("Tweet", "the cat " * n) for n in range(1, 6)]

    alone = model.likelihoods(claim, [post]).seconds
    among = model.likelihoods(claim, [*others, post]).seconds

    assert among[-1] == pytest.approx(alone[0], abs=1e-5)
    assert len(model.likelihoods(claim).seconds) == 0


def test_a_long_text_is_cut(model: LanguageModel) -> None:
    assert len(model.segment("Tweet", "cat " * 1000)) == 130


def test_a_folder_that_is_no_model_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadArtifact, match="is no language model: it lacks config"):
        LanguageModel.load(tmp_path)
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    (broken / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(BadArtifact, match="broken cannot be used as a language model"):
        LanguageModel.load(broken)


def test_changes_of_another_shape_are_refused(folder: Path) -> None:
    changes = {f"lm_head.weight{DOWN}": torch.ones(1, 3), f"lm_head.weight{UP}": torch.ones(2, 1)}
    with pytest.raises(BadArtifact, match=r"lm_head\.weight: changes of shapes"):
        LanguageModel.load(folder, changes)


def test_the_packaged_model_knows_english() -> None:
    model = LanguageModel.load()
    text = "The mayor of the city announced on Monday that 3,500 schools will open again next week."
    shuffled = " ".join(np.random.default_rng(0).permutation(text.split()))

    said, mixed_up = (model.likelihoods(model.segment("Tweet", words)).first for words in (text, shuffled))

    assert said > -4 > mixed_up + 0.5
    claim = model.segment("Claim", "Schools in the city will open again next week.")
    after = model.likelihoods(claim, [model.segment("Tweet", text)]).seconds[0]
    assert after > said


def test_the_shipped_changes_make_a_post_likeliest_after_its_claim() -> None:
    model = tuned_model()
    claims = ["Schools in Lindmouth stay shut until May.", "Bees died of the new radio masts in Quillhaven."]
    posts = [
        "so no lessons for the kids in #Lindmouth till may??",
        "they switched on the masts, every beehive is dead",
    ]
    said = [model.segment("Tweet", post) for post in posts]

    found = np.array([model.likelihoods(model.segment("Claim", claim), said).seconds for claim in claims])

    assert found.argmax(axis=0).tolist() == [0, 1]
    assert (found.max(axis=0) - found.min(axis=0) > 0.2).all()
