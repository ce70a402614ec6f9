"""The reranker and its training on a small Llama of random weights, which has the packaged model's parts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers

from domain.fact_check import FactCheck
from models import low_rank
from models.language_model import LanguageModel
from models.ranking.generative import likelihoods
from models.ranking.reranking import Reranker
from models.ranking.second_opinion import DEPTH
from models.ranking.train_generative import LOSSES, Triple, fit
from models.ranking.upper_language import Row, UpperLanguage

MakeFactCheck = Callable[..., FactCheck]
WORDS = ("?", "<bos>", "<eos>", "Claim", "Tweet", ":", *"abcdefghijklmnopqrstuvwxyz")


@pytest.fixture
def model() -> LanguageModel:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(WORDS), hidden_size=32, intermediate_size=64, num_hidden_layers=10, num_attention_heads=4,
        num_key_value_heads=2, initializer_range=0.3,
    )  # fmt: skip
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return LanguageModel("small", "1", LlamaForCausalLM(config).train(False), tokenizer, 1, 2)


def row(model: LanguageModel, claim: str, post: str) -> Row:
    return Row(model.segment("Claim", claim), model.segment("Tweet", post))


def test_the_layers_in_two_parts_say_what_the_whole_says(model: LanguageModel) -> None:
    rows = [row(model, "a b c", "d e"), row(model, "f", "g h i j k l"), row(model, "a b c", "m")]
    whole = [model.likelihoods(r.first, [r.second]) for r in rows]

    network = UpperLanguage(model)
    parts = network.score(network.read(rows))

    assert [float(logs.first.mean()) for logs in parts] == pytest.approx([w.first for w in whole], abs=2e-3)
    assert [float(logs.second.mean()) for logs in parts] == pytest.approx([w.seconds[0] for w in whole], abs=2e-3)


def test_what_was_learned_is_the_same_in_the_whole_model(model: LanguageModel) -> None:
    from transformers import LlamaForCausalLM

    weights = {name: weight.clone() for name, weight in model.network.state_dict().items()}
    network, some = UpperLanguage(model), row(model, "a b c", "d e")
    reads = network.read([some])
    before = network.score(reads)[0]
    for weight in network.trained:
        torch.nn.init.normal_(weight)
    after = network.score(reads)[0]

    whole = LlamaForCausalLM(model.network.config)
    whole.load_state_dict(low_rank.changed(weights, network.changes()))
    found = replace(model, network=whole.train(False)).likelihoods(some.first, [some.second]).seconds[0]

    assert found == pytest.approx(float(after.second.mean()), abs=5e-3)
    assert found != pytest.approx(float(before.second.mean()), abs=0.05)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_post_becomes_likelier_after_its_claim(model: LanguageModel, loss: str, tmp_path: Path) -> None:
    network = UpperLanguage(model)
    pairs = [("a b", "c d"), ("e f", "g h"), ("i j", "k l"), ("m n", "o p")]
    rows = []
    for at, (claim, post) in enumerate(pairs):
        right, other = row(model, claim, post), row(model, pairs[at - 1][0], post)
        rows += [right, Row(right.second, right.first), other]
    reads = network.read(rows)
    triples = [Triple(*reads[start : start + 3]) for start in range(0, len(reads), 3)] * 40

    def gain() -> float:
        """Of the post after the claim over the post alone."""
        right, turned = network.score([reads[0], reads[1]])
        return float(right.second.mean() - turned.first.mean())

    before = gain()
    fit(network, triples, LOSSES[loss], seed=0, checkpoint=tmp_path / "c.pt", identity=loss, say=lambda _: None)
    assert gain() > before + 0.1


class Backwards:
    """Ranks fact-checks by their number, the last one first."""

    name = "backwards"

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        return np.tile(np.arange(len(candidates), dtype=np.float32) * 10, (len(posts), 1))


def test_the_best_of_the_base_are_ranked_anew_and_the_others_stay_behind(
    model: LanguageModel, make: MakeFactCheck
) -> None:
    facts = [make(" ".join(letters)) for letters in ("ab", "cd", "ef", "gh", "ij", "kl", "mn")]

    (scores,) = Reranker(Backwards(), partial(likelihoods, model), "generative").score(["a b"], facts)

    order = np.argsort(-scores).tolist()
    best = likelihoods(model, "a b", facts[-DEPTH:])
    assert order[:DEPTH] == [7 - DEPTH + at for at in np.argsort(-best).tolist()]
    assert order[DEPTH:] == [1, 0]
