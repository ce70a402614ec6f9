"""Trains the weights of a claim's words for ranked search, listwise against the texts that compete with the right ones.

Each claim has a list: the right texts and what BM25 ranks high for the claim as it is, by rarity, and with a word less
or twice. A text's score is linear in the weights; each right text is to stand above all wrong ones (softmax cross
entropy), and weights are pulled towards 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models.evaluation.claim_sets import load_claims
from models.evaluation.collections import ClaimCollection
from models.evaluation.evidence_collections import load_fever, load_fm2
from models.evaluation.rewriting.endpoints import K1, STANDARD, B
from models.retrieval.analyser import ENGLISH, Analyser
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.learned.claim_words import Rarity, all_words, word_features
from models.rewriting.learned.term_weights import folder_of, settled, to_weights
from models.rewriting.learned.tuning import Pace, Read, UpperLayers, tune
from models.rewriting.learned.weights import save_policy, word_head
from models.rewriting.rewards.impacts import UNITS, ImpactIndex, index_texts
from models.rewriting.rewards.protocol import CUT

EPOCHS, BATCH, DROPOUT = 3, 32, 0.1
LAYERS_RATE, HEAD_RATE = 4e-4, 1e-3
PULL = 0.02  # towards a weight of 1
HELD_OUT = 0.1  # of a set without a dev split of its own

_MOST, _BY_RARITY, _BY_WORD = 150, 100, 15  # texts of a list


@dataclass(frozen=True, slots=True)
class Source:
    """Claims to learn from; without `dev`, a share of them, by their right texts, is held out."""

    name: str
    train: Callable[[Path], ClaimCollection]
    analyser: Analyser
    dev: Callable[[Path], ClaimCollection] | None = None
    weight: float = 1.0


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


@dataclass(frozen=True, slots=True)
class Example:
    """`impacts`: (terms, texts), BM25's; `terms`: (terms, words), how often each word brings each term into the query;
    `gold`: (texts,); `relevant`: right texts there are."""

    read: Read
    terms: Tensor
    impacts: Tensor
    gold: Tensor
    relevant: int
    weight: float

    def scores(self, weights: Tensor) -> Tensor:
        """(texts,) from the words' weights."""
        return (self.terms @ weights[: self.terms.shape[1]]) @ self.impacts.float()


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
    data: Path, texts: str, out: Path | None = None, *, seed: int = 0, epochs: int = EPOCHS,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """For searching such texts, from the sets in `data`; weights and card go to `out` (None: where the packaged ones
    lie). Gives the card."""
    torch.manual_seed(seed)
    network = WeightNetwork()
    examples, dev = list[Example](), dict[str, list[Example]]()
    for source in SOURCES[texts]:
        learned, dev[source.name] = _split(network.layers, data, source, seed)
        examples += learned
    say(f"{len(examples)} claims to learn from")
    gains = fit(network, examples, dev, seed=seed, epochs=epochs, say=say)
    card = {
        "data": ", ".join(source.name for source in SOURCES[texts]),
        "claims": len(examples),
        "seed": seed,
        "command": f"claimwatch retrain rewriter --endpoint ranked --texts {texts} --data DATA --seed {seed}",
        "metrics": {"dev_ap50_gain_by_epoch": gains},
    }
    return save_policy(out or folder_of(texts), network.layers.changes(), {"words": network.words}, card)


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
        return torch.stack([_loss(row, example) for row, example in zip(logs, chosen, strict=True)]).mean()

    def is_best(epoch: int) -> bool:
        gains.append({name: round(gain(network, part), 4) for name, part in dev.items()})
        say(f"epoch {epoch}: AP@{CUT} gains on dev: {gains[-1]}")
        return gains[-1] == max(gains, key=lambda of_epoch: sum(of_epoch.values()))

    pace = Pace(epochs, BATCH, HEAD_RATE, LAYERS_RATE, seed)
    tune(network, network.layers, len(examples), pace, loss_of, is_best)
    return gains


def _loss(logs: Tensor, example: Example) -> Tensor:
    scores = example.scores(to_weights(logs))
    pull = PULL * logs[: example.terms.shape[1]].square().mean()
    gold, wrong = scores[example.gold], scores[~example.gold]
    if not len(gold) or not len(wrong):
        return pull
    return example.weight * F.softplus(torch.logsumexp(wrong, 0) - gold).mean() + pull


def gain(network: WeightNetwork, examples: Sequence[Example]) -> float:
    """Mean AP@50 within the lists, against the claims as they are."""
    network.train(False)
    total = 0.0
    for start in range(0, len(examples), BATCH):
        part = examples[start : start + BATCH]
        with torch.no_grad():
            logs = network([example.read for example in part])
        for row, example in zip(logs, part, strict=True):
            words = example.terms.shape[1]
            learned = torch.from_numpy(settled(row[:words])).float()
            total += _average_precision(example, learned) - _average_precision(example, torch.ones(words))
    return total / max(len(examples), 1)


def _average_precision(example: Example, weights: Tensor) -> float:
    order = torch.argsort(example.scores(weights), descending=True, stable=True)[:CUT]
    hits = example.gold[order].double()
    precisions = torch.cumsum(hits, 0) / torch.arange(1, len(hits) + 1)
    return float((precisions * hits).sum() / example.relevant)


def _split(layers: UpperLayers, data: Path, source: Source, seed: int) -> tuple[list[Example], list[Example]]:
    collection = source.train(data)
    index = index_texts(collection.posts, source.analyser, k1=K1, b=B)
    if source.dev:
        held_out = source.dev(data)
        dev_index = index_texts(held_out.posts, source.analyser, k1=K1, b=B)
        dev = to_examples(layers, held_out, list(held_out.qrels), dev_index, source)
        return to_examples(layers, collection, list(collection.qrels), index, source), dev
    golds = sorted({min(gold) for gold in collection.qrels.values()})
    chosen = set(np.random.default_rng(seed).choice(golds, int(HELD_OUT * len(golds)), replace=False).tolist())
    learned = [claim for claim, gold in collection.qrels.items() if min(gold) not in chosen]
    rest = [claim for claim, gold in collection.qrels.items() if min(gold) in chosen]
    return tuple(to_examples(layers, collection, part, index, source) for part in (learned, rest))  # type: ignore[return-value]


def to_examples(
    layers: UpperLayers, collection: ClaimCollection, claims: Sequence[str], index: ImpactIndex, source: Source
) -> list[Example]:
    """Claims without words are left out."""
    statistics = WordFrequency("en")
    kept = [claim for claim in claims if all_words(collection.claims[claim])]
    texts = [collection.claims[claim] for claim in kept]
    words = [all_words(text) for text in texts]
    reads = layers.read(texts, words, [word_features(found, Rarity.of(found, statistics)) for found in words])
    examples = []
    for claim, found, read in zip(kept, words, reads, strict=True):
        gold = collection.qrels[claim]
        terms, impacts, right = _list(index, [source.analyser(word.text) for word in found], index.numbers(gold))
        examples.append(Example(read, terms, impacts, right, len(gold), source.weight))
    return examples


def _list(
    index: ImpactIndex, tokens: Sequence[Sequence[str]], gold: NDArray[np.int32]
) -> tuple[Tensor, Tensor, Tensor]:
    """Terms, impacts and gold of an example; impacts in half precision, for there are thousands of lists."""
    postings = index.postings
    numbered = [[postings.terms[token] for token in part if token in postings.terms] for part in tokens]
    known = sorted({term for part in numbered for term in part})
    rows = {term: row for row, term in enumerate(known)}
    terms = torch.zeros(len(known), len(tokens))
    for word, part in enumerate(numbered):
        for term in part:
            terms[rows[term], word] += 1
    worth = np.zeros((len(known), index.size), dtype=np.float32)
    for row, term in enumerate(known):
        held = slice(postings.starts[term], postings.starts[term + 1])
        worth[row, postings.documents[held]] = index.impacts[held] / UNITS
    counts = terms.numpy().sum(1)
    whole = counts @ worth
    rarity = np.log(index.size / np.maximum((worth > 0).sum(1), 1))
    competing = {*_top(whole, _MOST), *_top((counts * rarity) @ worth, _BY_RARITY)}
    for row, count in enumerate(counts):
        competing.update(_top(whole - count * worth[row], _BY_WORD), _top(whole + count * worth[row], _BY_WORD))
    texts = np.array(sorted(competing | set(gold.tolist())))
    return terms, torch.from_numpy(worth[:, texts].astype(np.float16)), torch.from_numpy(np.isin(texts, gold))


def _top(scores: NDArray[np.float32], most: int) -> list[int]:
    kept = min(most, len(scores))
    chosen: list[int] = np.argpartition(-scores, kept - 1)[:kept].tolist()
    return chosen
