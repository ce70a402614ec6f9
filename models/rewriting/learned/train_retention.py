"""Trains the boolean policy: how likely a post about a claim holds each of its words, and how many other posts do.

The mixture's likelihood of the words that each post holds is maximised (early stopping on discovery's dev); how many
posts match is fitted to all queries of the training claims. Seconds a step, minutes in all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from models.evaluation.claim_sets import CLAIM_SETS, load_claims
from models.evaluation.collections import ClaimCollection
from models.retrieval.analyser import ENDPOINT
from models.retrieval.near_duplicates import copies_among
from models.retrieval.statistics import TermStatistics
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.boolean_edits import BooleanEdits
from models.rewriting.learned.claim_words import Rarity, located, word_features
from models.rewriting.learned.outlook import query_words
from models.rewriting.learned.patterns import MOST_WORDS, space
from models.rewriting.learned.retention import FOLDER, WAYS
from models.rewriting.learned.tuning import Pace, Read, UpperLayers, tune
from models.rewriting.learned.volume import Told, Volume, query_features, to_target
from models.rewriting.learned.weights import DIM, save_policy, word_head
from models.rewriting.rewards.boolean import BooleanRewards
from models.rewriting.tagging import tag

EPOCHS, BATCH = 2, 8
LAYERS_RATE, HEADS_RATE, DROPOUT = 4e-4, 2e-3, 0.3

_STEPS, _QUERIES, _RATE = 3000, 2048, 3e-3  # of the networks over queries


@dataclass(frozen=True, slots=True)
class Example:
    """`held`: which words each post holds, (posts, words)."""

    read: Read
    held: Tensor


class RetentionNetwork(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = UpperLayers()
        self.words, self.ways = word_head(WAYS, dropout=DROPOUT), nn.Linear(DIM, WAYS)
        nn.init.normal_(self.words[-1].get_parameter("bias"))  # equal ways would stay equal

    def forward(self, batch: Sequence[Read]) -> tuple[Tensor, Tensor]:
        """Logits (claims, words, ways), padded, and log shares (claims, ways)."""
        words, means = self.layers(batch)
        return self.words(words), torch.log_softmax(self.ways(means), -1)


def surprise(logits: Tensor, log_shares: Tensor, held: Tensor) -> Tensor:
    """Mean negative log likelihood of the patterns of a claim's posts."""
    there, missing = F.logsigmoid(logits[: held.shape[1]]), F.logsigmoid(-logits[: held.shape[1]])
    return -torch.logsumexp(held @ there + (1 - held) @ missing + log_shares, -1).mean()


def train(
    data: Path, out: Path | None = None, *, seed: int = 0, epochs: int = EPOCHS, say: Callable[[str], None] = print
) -> dict[str, Any]:
    """From the sets in `data`; weights and card go to `out` (None: where the packaged ones lie). Gives the card."""
    torch.manual_seed(seed)
    statistics = WordFrequency("en")
    network = RetentionNetwork()
    claims, left_out = training_claims(data)
    examples = to_examples(network.layers, claims, statistics)
    dev = to_examples(network.layers, load_claims(data, "discovery", "dev"), statistics)
    _, surprises = fit(network, examples, dev, seed=seed, epochs=epochs, say=say)
    matches = {split: counted_queries(data, split, statistics) for split in ("train", "dev")}
    volume, explained = fit_volume(matches["train"], matches["dev"], seed=seed)
    told, gained = fit_told(matches["train"], matches["dev"], seed=seed)
    say(f"{explained:.3f} of the variance of how many posts match is explained; a count tells {gained:.3f} nats")
    parts = {"words": network.words, "ways": network.ways, "volume": volume, "told": told}
    card = {
        "data": "discovery train; early stopping on discovery dev",
        "claims": len(examples),
        "posts": sum(len(example.held) for example in examples),
        "left_out_as_near_duplicates": left_out,
        "seed": seed,
        "command": f"claimwatch retrain rewriter --endpoint boolean --data DATA --seed {seed}",
        "metrics": {
            "dev_surprise_by_epoch": surprises,
            "volume_variance_explained": round(explained, 4),
            "nats_told_by_counts": round(gained, 4),
        },
    }
    return save_policy(out or FOLDER, network.layers.changes(), parts, card)


def training_claims(data: Path) -> tuple[ClaimCollection, int]:
    """Discovery's training claims without those that are, or whose posts are, near-duplicates of what its other splits
    judge; and how many claims that leaves out."""
    train = load_claims(data, "discovery", "train")
    judged = {claim: train.claims[claim] for claim in train.qrels}
    posts = {f"{post}\n{claim}": train.posts[post] for claim, found in train.qrels.items() for post in found}
    others = [load_claims(data, "discovery", split) for split in CLAIM_SETS["discovery"].held_out]
    known = [text for other in others for text in _judged_texts(other)]
    copies = copies_among(judged, known) | {key.split("\n")[1] for key in copies_among(posts, known)}
    kept = {claim: found for claim, found in train.qrels.items() if claim not in copies}
    return replace(train, qrels=kept), len(copies)


def _judged_texts(collection: ClaimCollection) -> list[str]:
    posts = {post for found in collection.qrels.values() for post in found}
    return [*collection.claims.values(), *(collection.posts[post] for post in sorted(posts))]


def to_examples(layers: UpperLayers, collection: ClaimCollection, statistics: TermStatistics) -> list[Example]:
    """Claims without content words are left out."""
    edits, judged = BooleanEdits(statistics), list(collection.qrels)
    starts = [edits.start(tokens) for tokens in tag([collection.claims[claim] for claim in judged])]
    words = {claim: [word.text for word in query_words(start)] for claim, start in zip(judged, starts, strict=True)}
    kept = [claim for claim in judged if words[claim]]
    texts = [collection.claims[claim] for claim in kept]
    places = [located(words[claim], text) for claim, text in zip(kept, texts, strict=True)]
    features = [word_features(found, Rarity.of(found, statistics)) for found in places]
    reads = layers.read(texts, places, features)
    posts = [[collection.posts[post] for post in sorted(collection.qrels[claim])] for claim in kept]
    return [Example(read, held_words(words[claim], of)) for claim, read, of in zip(kept, reads, posts, strict=True)]


def held_words(words: Sequence[str], posts: Sequence[str]) -> Tensor:
    """(posts, words): whether a post holds all stems of a word."""
    stems = [set(ENDPOINT(word)) for word in words]
    tokens = [set(ENDPOINT(post)) for post in posts]
    return torch.tensor([[float(stem <= post) for stem in stems] for post in tokens])


def fit(
    network: RetentionNetwork, examples: Sequence[Example], dev: Sequence[Example], *, seed: int, epochs: int,
    say: Callable[[str], None],
) -> tuple[dict[str, Tensor], list[float]]:  # fmt: skip
    """The weights of the epoch that surprises dev the least, which the network is left with, and how much each did."""
    surprises: list[float] = []

    def is_best(epoch: int) -> bool:
        surprises.append(round(dev_surprise(network, dev), 4))
        say(f"epoch {epoch}: a post of dev surprises by {surprises[-1]:.4f}")
        return surprises[-1] == min(surprises)

    pace = Pace(epochs, BATCH, HEADS_RATE, LAYERS_RATE, seed)
    tune(
        network, network.layers, len(examples), pace,
        lambda batch: _loss(network, [examples[number] for number in batch]), is_best,
    )  # fmt: skip
    return network.state_dict(), surprises


def dev_surprise(network: RetentionNetwork, dev: Sequence[Example]) -> float:
    network.train(False)
    with torch.no_grad():
        parts = [float(_loss(network, dev[start : start + BATCH])) for start in range(0, len(dev), BATCH)]
    sizes = [len(dev[start : start + BATCH]) for start in range(0, len(dev), BATCH)]
    return float(np.average(parts, weights=sizes))


def _loss(network: RetentionNetwork, examples: Sequence[Example]) -> Tensor:
    logits, log_shares = network([example.read for example in examples])
    parts = [
        surprise(logit, shares, example.held)
        for logit, shares, example in zip(logits, log_shares, examples, strict=True)
    ]
    return torch.stack(parts).mean()


@dataclass(frozen=True, slots=True)
class CountedQueries:
    """All queries of a split's claims, as `boolean_platform` has them: features, (queries, …); how many posts of the
    sample match that are not the claim's; how many of the platform match, whole numbers; whether one of them is the
    claim's; the query's weight, the same for each claim."""

    features: Tensor
    others: Tensor
    counts: Tensor
    found: Tensor
    weights: Tensor


def counted_queries(data: Path, split: str, statistics: TermStatistics) -> CountedQueries:
    collection = load_claims(data, "discovery", split)
    rewards, edits = BooleanRewards(collection.posts), BooleanEdits(statistics)
    claims = list(collection.qrels)
    parts: list[tuple[NDArray[np.float32], ...]] = []
    for claim, tokens in zip(claims, tag([collection.claims[claim] for claim in claims]), strict=True):
        words = [word.text for word in query_words(edits.start(tokens))]
        if not words:
            continue
        places = located(words, collection.claims[claim])
        rarity = Rarity.of(places, statistics)
        rarest = rarity.rarest(MOST_WORDS)
        queries = space(len(rarest))
        episode = rewards.open(collection.qrels[claim])
        groups = [[(words[rarest[place]],) for place in query] for query in queries.queries]
        others, counts = episode.background(groups), episode.count(groups)
        features = query_features([places[at] for at in rarest], rarity.of_those(rarest), queries.members)
        weights = np.full(len(groups), 1 / len(groups))
        found = counts > others + 0.5
        columns = (others / rewards.scale, np.rint(counts), found, weights)
        parts.append((features, *(column.astype(np.float32) for column in columns)))
    return CountedQueries(*(torch.from_numpy(np.concatenate(column)) for column in zip(*parts, strict=True)))


def fit_volume(train: CountedQueries, dev: CountedQueries, *, seed: int) -> tuple[Volume, float]:
    """And the share of the variance that it explains on dev."""
    volume = Volume()

    def loss(queries: CountedQueries, chosen: Tensor) -> Tensor:
        return F.mse_loss(volume(queries.features[chosen]), to_target(queries.others[chosen]))

    _minimise(volume, lambda chosen: loss(train, chosen), len(train.features), seed)
    with torch.no_grad():
        missed_by = loss(dev, torch.arange(len(dev.features)))
    return volume, 1 - float(missed_by / to_target(dev.others).var())


def fit_told(train: CountedQueries, dev: CountedQueries, *, seed: int) -> tuple[Told, float]:
    """And how much less surprising it is on dev, in nats, whether a query finds a post, once its count is known."""
    told = Told()

    def losses(queries: CountedQueries, chosen: Tensor) -> Tensor:
        logits = torch.stack(told(queries.features[chosen], queries.counts[chosen]))
        found = queries.found[chosen].expand_as(logits)
        weights = queries.weights[chosen].expand_as(logits)
        return (weights * F.binary_cross_entropy_with_logits(logits, found, reduction="none")).sum(1) / weights.sum(1)

    some = torch.nonzero(train.counts)[:, 0]
    _minimise(told, lambda chosen: losses(train, some[chosen]).sum(), len(some), seed)
    with torch.no_grad():
        before, after = losses(dev, torch.nonzero(dev.counts)[:, 0])
    return told, float(before - after)


def _minimise(network: nn.Module, loss_of: Callable[[Tensor], Tensor], count: int, seed: int) -> None:
    """Over random batches of numbers below `count`."""
    optimizer = torch.optim.AdamW(network.parameters(), lr=_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, _STEPS)
    rng = np.random.default_rng(seed)
    for _ in range(_STEPS):
        loss = loss_of(torch.from_numpy(rng.integers(0, count, _QUERIES)))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
