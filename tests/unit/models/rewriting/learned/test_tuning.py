from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from models.retrieval.word_frequency import WordFrequency
from models.rewriting.learned.claim_words import FEATURES, Rarity, all_words, located, word_features
from models.rewriting.learned.reader import ClaimReader
from models.rewriting.learned.retention import WAYS, Retention
from models.rewriting.learned.train_retention import RetentionNetwork
from models.rewriting.learned.tuning import Read, UpperLayers
from models.rewriting.learned.volume import Told, Volume
from models.rewriting.learned.weights import DIM, load_policy, save_policy, word_head
from models.training import shuffled_batches

TEXTS = [
    "Lindmouth has banned fluoride in tap water.",
    "5G kills",
    "The doctor's 5G chips killed thousands of people in Paris 🚰, and nobody was not vaccinated.",
]


def read(layers: UpperLayers, statistics: WordFrequency, texts: list[str]) -> list[Read]:
    words = [all_words(text) for text in texts]
    return layers.read(texts, words, [word_features(found, Rarity.of(found, statistics)) for found in words])


def tuned(layers: UpperLayers) -> UpperLayers:
    """With changes that are not nothing, as after some training."""
    torch.manual_seed(5)
    with torch.no_grad():
        for weight in layers.parameters():
            if weight.requires_grad:
                weight.add_(0.05 * torch.randn_like(weight))
    return layers.train(False)


@pytest.fixture(scope="module")
def layers() -> UpperLayers:
    return tuned(UpperLayers())


@pytest.fixture(scope="module")
def reads(layers: UpperLayers, statistics: WordFrequency) -> list[Read]:
    return read(layers, statistics, TEXTS)


def by_claim(layers: UpperLayers, batch: list[Read]) -> list[tuple[Tensor, Tensor]]:
    with torch.no_grad():
        words, means = layers(batch)
    return [(row[: len(one.features)], mean) for row, mean, one in zip(words, means, batch, strict=True)]


def test_what_was_trained_reads_a_claim_as_the_policy_does_after_saving_and_loading(
    layers: UpperLayers, reads: list[Read], tmp_path: Path
) -> None:
    save_policy(tmp_path, layers.changes(), {"words": word_head(1)}, {})
    reader, _ = load_policy(tmp_path, {"words": word_head(1)}, advice="train it")
    plain = ClaimReader({})
    for text, (words, mean) in zip(TEXTS, by_claim(layers, reads), strict=True):
        loaded_words, loaded_mean = reader.read(text, all_words(text))
        torch.testing.assert_close(words[:, :DIM], loaded_words, atol=1e-4, rtol=0)
        torch.testing.assert_close(mean, loaded_mean, atol=1e-4, rtol=0)
        assert (plain.read(text, all_words(text))[0] - loaded_words).abs().max() > 0.05, "else nothing is shown"


def test_neighbours_and_padding_do_not_change_what_is_read_of_a_claim(layers: UpperLayers, reads: list[Read]) -> None:
    for one, (words, mean) in zip(reads, by_claim(layers, reads), strict=True):
        ((alone, alone_mean),) = by_claim(layers, [one])
        torch.testing.assert_close(words, alone, atol=1e-4, rtol=0)
        torch.testing.assert_close(mean, alone_mean, atol=1e-4, rtol=0)


def test_the_lower_layers_give_a_claim_the_same_states_in_any_batch(
    layers: UpperLayers, reads: list[Read], statistics: WordFrequency
) -> None:
    for text, one in zip(TEXTS, reads, strict=True):
        (alone,) = read(layers, statistics, [text])
        torch.testing.assert_close(one.states, alone.states, atol=1e-5, rtol=0)
        torch.testing.assert_close(one.membership, alone.membership)


def test_a_word_is_the_mean_of_its_tokens(layers: UpperLayers, reads: list[Read]) -> None:
    for text, one in zip(TEXTS, reads, strict=True):
        assert one.membership.shape == (len(all_words(text)), len(one.states))
        assert one.features.shape == (len(all_words(text)), FEATURES)
        torch.testing.assert_close(one.membership.sum(1), torch.ones(len(one.features)))
        assert (one.membership[:, 0] == 0).all(), "no word of a short claim is its frame"


def test_words_beyond_what_the_encoder_takes_are_read_as_the_frame(
    layers: UpperLayers, statistics: WordFrequency
) -> None:
    (one,) = read(layers, statistics, ["water " * 400])
    assert one.membership[100, 0] == 0
    assert one.membership[-1, 0] == 1


def test_only_low_rank_changes_of_the_upper_layers_are_trained_and_saved(layers: UpperLayers) -> None:
    assert {name.split(".")[2] for name in layers.changes()} == {"3", "4", "5"}
    trained = sum(weight.numel() for weight in layers.parameters() if weight.requires_grad)
    assert trained == sum(weight.numel() for weight in layers.changes().values())
    assert trained < 0.08 * sum(weight.numel() for weight in layers.parameters())


def test_a_trained_network_and_the_loaded_policy_expect_the_same_of_a_claim(
    statistics: WordFrequency, tmp_path: Path
) -> None:
    torch.manual_seed(2)
    network = RetentionNetwork()
    tuned(network.layers)
    network.train(False)
    parts = {"words": network.words, "ways": network.ways, "volume": Volume(), "told": Told()}
    save_policy(tmp_path, network.layers.changes(), parts, {})
    text, words = TEXTS[0], ["Lindmouth", "banned", "fluoride", "tap", "water"]
    foresight = Retention.load(tmp_path).foresee(text, words, statistics)
    places = located(words, text)
    (one,) = network.layers.read([text], [places], [word_features(places, Rarity.of(places, statistics))])
    with torch.no_grad():
        logits, log_shares = network([one])
    np.testing.assert_allclose(foresight.retained, logits[0].numpy(), atol=1e-3)
    np.testing.assert_allclose(foresight.shares, log_shares[0].exp().numpy(), atol=1e-3)
    assert foresight.retained.shape == (len(words), WAYS)


def test_batches_hold_every_number_once_and_follow_from_the_seed() -> None:
    first, again, other = (list(shuffled_batches(10, 4, np.random.default_rng(seed))) for seed in (1, 1, 2))
    assert sorted(number for batch in first for number in batch) == list(range(10))
    assert [len(batch) for batch in first] == [4, 4, 2]
    assert first == again != other
