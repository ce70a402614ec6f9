"""Trains the weights of a claim's words, listwise against the texts that compete with the right ones.

Each right text of a list is to stand above all wrong ones (softmax cross entropy), and weights are pulled towards 1.
Lists for ranked search are BM25's, lists for dense search the encoder's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from domain.query import EndpointKind
from models.evaluation.claim_sets import load_claims
from models.evaluation.collections import ClaimCollection
from models.evaluation.evidence_collections import load_fever, load_fm2
from models.evaluation.rewriting.endpoints import STANDARD
from models.retrieval.analyser import ENGLISH, Analyser
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.learned.claim_words import Rarity, all_words, word_features
from models.rewriting.learned.dense_lists import DenseLists
from models.rewriting.learned.listwise import Example, Lists
from models.rewriting.learned.ranked_lists import RankedLists
from models.rewriting.learned.term_weights import folder_of
from models.rewriting.learned.tuning import Pace, Read, UpperLayers, tune
from models.rewriting.learned.weights import save_policy, word_head
from models.rewriting.rewards.protocol import CUT

EPOCHS, BATCH, DROPOUT = 3, 32, 0.1
LAYERS_RATE, HEAD_RATE = 4e-4, 1e-3
HELD_OUT = 0.1  # of a set without a dev split of its own


@dataclass(frozen=True, slots=True)
class Source:
    """Claims to learn from; without `dev`, a share of them, by their right texts, is held out. `analyser` is that of
    ranked search."""

    name: str
    train: Callable[[Path], ClaimCollection]
    analyser: Analyser
    dev: Callable[[Path], ClaimCollection] | None = None
    weight: float = 1.0

    def lists(self, kind: EndpointKind, collection: ClaimCollection, cache: Path | None = None) -> Lists:
        if kind is EndpointKind.DENSE:
            return DenseLists(collection, weight=self.weight, cache=cache)
        return RankedLists(collection, self.analyser, weight=self.weight)


SOURCES = {
    "posts": (
        Source(
            "discovery train", partial(load_claims, name="discovery", split="train"), ENGLISH,
            dev=partial(load_claims, name="discovery", split="dev"),
        ),
    ),
    "passages": (
        Source("fever paper_dev", partial(load_fever, split="paper_dev"), STANDARD),
        Source("fm2 dev", partial(load_fm2, split="dev"), STANDARD, weight=2.0),
    ),
}  # fmt: skip


class WeightNetwork(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers, self.words = UpperLayers(), word_head(1, dropout=DROPOUT)
        for weight in self.words[-1].parameters():
            nn.init.zeros_(weight)  # at first every word counts as it is

    def forward(self, batch: Sequence[Read]) -> Tensor:
        """Logarithms of the weights, (claims, words), padded."""
        logs: Tensor = self.words(self.layers(batch)[0])[..., 0]
        return logs


def train(
    data: Path, kind: EndpointKind, texts: str, out: Path | None = None, *, cache: Path | None = None, seed: int = 0,
    epochs: int = EPOCHS, say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """For searching such texts by words or by meaning, from the sets in `data`; weights and card go to `out` (None:
    where the packaged ones lie), embeddings of texts to `cache`. Gives the card."""
    torch.manual_seed(seed)
    network = WeightNetwork()
    examples, dev = list[Example](), dict[str, list[Example]]()
    for source in SOURCES[texts]:
        learned, dev[source.name] = _split(network.layers, data, kind, source, cache, seed)
        examples += learned
    say(f"{len(examples)} claims to learn from")
    gains = fit(network, examples, dev, seed=seed, epochs=epochs, say=say)
    card = {
        "data": ", ".join(source.name for source in SOURCES[texts]),
        "claims": len(examples),
        "seed": seed,
        "command": f"claimwatch retrain rewriter --endpoint {kind} --texts {texts} --data DATA --seed {seed}",
        "metrics": {"dev_ap50_gain_by_epoch": gains},
    }
    return save_policy(out or folder_of(kind, texts), network.layers.changes(), {"words": network.words}, card)


def fit(
    network: WeightNetwork, examples: Sequence[Example], dev: dict[str, list[Example]], *, seed: int, epochs: int,
    say: Callable[[str], None],
) -> list[dict[str, float]]:  # fmt: skip
    """What each epoch gains over the claims as they are, AP@50 within the lists of each set's dev. The network is left
    as it was after the best one."""
    gains: list[dict[str, float]] = []

    def loss_of(batch: list[int]) -> Tensor:
        chosen = [examples[number] for number in batch]
        logs = network([example.read for example in chosen])
        return torch.stack([example.loss(row) for row, example in zip(logs, chosen, strict=True)]).mean()

    def is_best(epoch: int) -> bool:
        gains.append({name: round(gain(network, part), 4) for name, part in dev.items()})
        say(f"epoch {epoch}: AP@{CUT} gains on dev: {gains[-1]}")
        return gains[-1] == max(gains, key=lambda of_epoch: sum(of_epoch.values()))

    pace = Pace(epochs, BATCH, HEAD_RATE, LAYERS_RATE, seed)
    tune(network, network.layers, len(examples), pace, loss_of, is_best)
    return gains


def gain(network: WeightNetwork, examples: Sequence[Example]) -> float:
    """Mean AP@50 within the lists, over the claims as they are."""
    network.train(False)
    total = 0.0
    for start in range(0, len(examples), BATCH):
        part = examples[start : start + BATCH]
        with torch.no_grad():
            logs = network([example.read for example in part])
        total += sum(example.gain(row[: len(example.read.features)]) for row, example in zip(logs, part, strict=True))
    return total / max(len(examples), 1)


def _split(
    layers: UpperLayers, data: Path, kind: EndpointKind, source: Source, cache: Path | None, seed: int
) -> tuple[list[Example], list[Example]]:
    collection = source.train(data)
    lists = source.lists(kind, collection, cache)
    if source.dev:
        held_out = source.dev(data)
        dev = to_examples(layers, held_out, list(held_out.qrels), source.lists(kind, held_out, cache))
        return to_examples(layers, collection, list(collection.qrels), lists), dev
    golds = sorted({min(gold) for gold in collection.qrels.values()})
    chosen = set(np.random.default_rng(seed).choice(golds, int(HELD_OUT * len(golds)), replace=False).tolist())
    learned = [claim for claim, gold in collection.qrels.items() if min(gold) not in chosen]
    rest = [claim for claim, gold in collection.qrels.items() if min(gold) in chosen]
    return to_examples(layers, collection, learned, lists), to_examples(layers, collection, rest, lists)


def to_examples(layers: UpperLayers, collection: ClaimCollection, claims: Sequence[str], lists: Lists) -> list[Example]:
    """Claims without words are left out."""
    statistics = WordFrequency("en")
    kept = [claim for claim in claims if all_words(collection.claims[claim])]
    texts = [collection.claims[claim] for claim in kept]
    words = [all_words(text) for text in texts]
    reads = layers.read(texts, words, [word_features(found, Rarity.of(found, statistics)) for found in words])
    return [lists.example(claim, found, read) for claim, found, read in zip(kept, words, reads, strict=True)]
