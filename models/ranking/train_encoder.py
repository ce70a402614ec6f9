"""Tunes the packaged encoder for posts beside fact-checks: multiple negatives ranking loss in both directions
(generative matching, eq. 2), one of BM25's wrong answers a pair among the negatives.

Three encoders come of it: one that learned from all of the train split, and two that each learned from one half, so
that a post of the split can be measured, or a blend fitted, with an encoder that has not seen it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save
from torch import Tensor
from torch.nn import functional as F

import models
from domain.fact_check import FactCheck
from models.artifact import write_artifact
from models.backbone import PACKAGED_SHA256, Encoder
from models.evaluation.collections import PostCollection, load_checkthat
from models.evaluation.matching import rank_posts
from models.evaluation.metrics import average_precision, per_query
from models.evaluation.vectors import cached_vectors
from models.ranking.encoder import EncoderRanker
from models.ranking.fact_check_text import embedding_text
from models.ranking.folds import assign_folds
from models.ranking.hard_negatives import mine
from models.ranking.training_posts import training_posts
from models.ranking.tuned_encoder import TunedEncoder
from models.retrieval.post_text import clean_post
from models.training import learn, shuffled_batches

NAME, VERSION = "encoder", "1"
FOLDER = Path(models.__file__).parent / "weights" / NAME
WHOLE = "whole"
HALVES = ("half_0", "half_1")  # each has not seen the posts of the half that it is named after
EPOCHS, BATCH, RATE = 3, 32, 5e-4
SCALE = 20.0  # of cosines, before the softmax
TITLES = 0.3  # of the fact-checks that have both claim and title, shown by their title
_LONGEST = 500  # characters of a post


@dataclass(frozen=True, slots=True)
class Pair:
    """A post, what a right fact-check of it says, what a wrong one says, if any was mined, and the numbers of all
    right ones, `number` this one's. Drawn anew for each epoch."""

    post: str
    right: str
    wrong: str | None
    number: int
    gold: frozenset[int]


def train(
    data: Path, out: Path | None = None, *, seed: int = 0, cache: Path | None = None,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """Learn from CheckThat! 2022's train split in `data`; weights and card go to `out` (None: where the packaged ones
    lie). Gives the card. Embeddings are kept in `cache` between runs. Cut off, it goes on from its checkpoints."""
    folder = out or FOLDER
    posts = training_posts(data)
    facts, texts = posts.collection.fact_checks, [posts.collection.queries[q] for q in posts.collection.qrels]
    mined = mine(texts, posts.gold, facts, Encoder.load())
    halves = assign_folds(posts.gold, seed=seed, folds=len(HALVES))
    seen = {half: halves != number for number, half in enumerate(HALVES)} | {WHOLE: np.ones(len(texts), dtype=np.bool_)}
    weights: dict[str, Tensor] = {}
    for part, mask in seen.items():
        rng = np.random.default_rng(seed)
        judged = [(int(post), right) for post in np.flatnonzero(mask) for right in sorted(posts.gold[post])]
        say(f"{part}: {len(judged)} pairs")

        def drawn(post: int, right: int, rng: np.random.Generator = rng) -> Pair:
            wrong = facts[int(rng.choice(mined[post]))] if mined[post] else None
            said = clean_post(texts[post])[:_LONGEST]
            return Pair(said, _shown(facts[right], rng), _shown(wrong, rng) if wrong else None, right, posts.gold[post])

        batches = [
            [drawn(*judged[at]) for at in batch]
            for _ in range(EPOCHS)
            for batch in shuffled_batches(len(judged), BATCH, rng)
        ]
        changes = _tune(batches, folder / f"{part}.checkpoint", f"{NAME} {VERSION} {part} {seed}", seed, say)
        weights |= {f"{part}.{name}": weight.half().contiguous() for name, weight in changes.items()}
    card = {
        "name": NAME,
        "version": VERSION,
        "encoder": PACKAGED_SHA256,
        "data": "CheckThat! 2022 task 2A, English, train",
        "posts": len(texts),
        "left_out_as_near_duplicates": posts.left_out,
        "seed": seed,
        "command": f"claimwatch retrain {NAME} --data {data.name} --seed {seed}",
    }
    content = save(weights)
    write_artifact(folder, "model.safetensors", content, card)
    metrics = _measure(posts.collection, halves, load_checkthat(data, "dev"), folder, cache)
    written = write_artifact(folder, "model.safetensors", content, card | {"metrics": metrics})
    for part in seen:
        (folder / f"{part}.checkpoint").unlink(missing_ok=True)
    return written


def _measure(
    posts: PostCollection, halves: NDArray[np.intp], dev: PostCollection, folder: Path, cache: Path | None
) -> dict[str, dict[str, dict[str, float]]]:
    """AP@1 and AP@5 by cosine alone, of the packaged encoder and the tuned one in `folder`: of dev's posts, and of the
    train split's, each by the encoder that has not seen its half."""
    packaged = Encoder.load()
    train = {"packaged": _precisions(posts, packaged, cache)}
    of_halves = [_precisions(posts, Encoder.tuned(folder, half), cache) for half in HALVES]
    train["tuned"] = np.where((halves == 0)[:, None], *of_halves)
    encoders = {"packaged": packaged, "tuned": Encoder.tuned(folder)}
    found = {"train_unseen": train, "dev": {name: _precisions(dev, of, cache) for name, of in encoders.items()}}
    return {
        split: {name: dict(zip(("map1", "map5"), means, strict=True)) for name, means in _means(of).items()}
        for split, of in found.items()
    }


def _precisions(posts: PostCollection, encoder: Encoder, cache: Path | None) -> NDArray[np.float64]:
    """(judged posts, 2): AP@1 and AP@5."""
    facts = posts.fact_checks
    vectors = cached_vectors([embedding_text(fact.claim, fact.title) for fact in facts], encoder, cache)
    run = rank_posts(EncoderRanker(encoder, facts, vectors), posts)
    return np.array([list(per_query(run, posts.qrels, average_precision(k)).values()) for k in (1, 5)]).T


def _means(precisions: Mapping[str, NDArray[np.float64]]) -> dict[str, list[float]]:
    return {name: [round(float(mean), 4) for mean in of.mean(axis=0)] for name, of in precisions.items()}


def _tune(
    batches: Sequence[Sequence[Pair]], checkpoint: Path, identity: str, seed: int, say: Callable[[str], None]
) -> dict[str, Tensor]:
    torch.manual_seed(seed)
    network = TunedEncoder()
    learn(
        [(network.trained, RATE)], batches, lambda batch: loss(network, batch),
        checkpoint=checkpoint, identity=identity, say=say,
    )  # fmt: skip
    return network.changes()


def loss(network: Callable[[Sequence[str]], Tensor], batch: Sequence[Pair]) -> Tensor:
    """Each post is to find its fact-check among all of the batch, wrong ones too, and each fact-check its post. What
    is also right for a post is no negative of it."""
    posts = network([pair.post for pair in batch])  # (B, dim)
    stated = network([*(pair.right for pair in batch), *(pair.wrong for pair in batch if pair.wrong)])
    scores = SCALE * posts @ stated.T
    also_right = torch.tensor([[one is not other and other.number in one.gold for other in batch] for one in batch])
    blocked = F.pad(also_right, (0, len(stated) - len(batch)))
    own = torch.arange(len(batch))
    forth = F.cross_entropy(scores.masked_fill(blocked, -torch.inf), own)
    back = F.cross_entropy(scores[:, : len(batch)].T.masked_fill(also_right.T, -torch.inf), own)
    return forth + back


def _shown(fact_check: FactCheck, rng: np.random.Generator) -> str:
    texts = [text for text in (fact_check.claim, fact_check.title) if text]
    return texts[-1] if rng.random() < TITLES else texts[0]
