"""Trains the generative reranker: pairs of a post and its fact-check that the blend is least sure of, by one of five
losses (generative matching, §4.1), in low-rank changes to the language model's upper layers.

Each pair makes three rows: post after claim, claim after post, and post after a wrong claim that the blend ranks high.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

import models
from models.artifact import write_artifact
from models.evaluation.collections import PostCollection, load_checkthat
from models.evaluation.matching import rank_posts
from models.evaluation.metrics import average_precision, mean, per_query
from models.language_model import PACKAGED_SHA256, LanguageModel
from models.ranking import generative_losses as losses
from models.ranking.blend import BlendRanker
from models.ranking.generative import FILE, claim_segment, post_segment, second_opinion, tuned_model
from models.ranking.protocol import Ranker
from models.ranking.training_posts import TrainingPosts, training_posts
from models.ranking.upper_language import Logs, Read, Row, UpperLanguage
from models.training import learn, shuffled_batches

NAME, VERSION = "generative", "1"
PAIRS = 320  # of the 989: an hour on one core for all five losses
BATCH, RATE = 4, 3e-4
_NEAR = 4  # wrong fact-checks of which one is the negative


@dataclass(frozen=True, slots=True)
class Triple:
    """Rows of one pair, and what is known of their tokens after the network has read them."""

    right: Read  # claim, post
    turned: Read  # post, claim
    wrong: Read  # wrong claim, post


@dataclass(frozen=True, slots=True)
class Loss:
    """`rows`: which parts of a triple it looks at; `of` their log-probabilities, in that order."""

    rows: tuple[str, ...]
    of: Callable[..., Tensor]


def _hmi(right: Sequence[Logs], turned: Sequence[Logs]) -> Tensor:
    return losses.hmi(_seconds(right), _firsts(turned))


def _hpmi(right: Sequence[Logs], turned: Sequence[Logs]) -> Tensor:
    return losses.hpmi(_seconds(right), _firsts(turned))


def _hpmi_pohmi(right: Sequence[Logs], turned: Sequence[Logs]) -> Tensor:
    return _hpmi(right, turned) + losses.pohmi(_seconds(turned), _firsts(right))


def _nl3u(right: Sequence[Logs], wrong: Sequence[Logs]) -> Tensor:
    return losses.nl3u([logs.second for logs in right], [logs.second for logs in wrong])


def _mix(right: Sequence[Logs], turned: Sequence[Logs], wrong: Sequence[Logs]) -> Tensor:
    return _hpmi_pohmi(right, turned) + _nl3u(right, wrong)


LOSSES: Mapping[str, Loss] = {
    "hmi": Loss(("right", "turned"), _hmi),
    "hpmi": Loss(("right", "turned"), _hpmi),
    "hpmi_pohmi": Loss(("right", "turned"), _hpmi_pohmi),
    "nl3u": Loss(("right", "wrong"), _nl3u),
    "mix": Loss(("right", "turned", "wrong"), _mix),
}


def train(
    data: Path, base: BlendRanker, out: Path | None = None, *, loss: str = "mix", seed: int = 0, pairs: int = PAIRS,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """Learn from CheckThat! 2022's train split in `data`, whose hard negatives `base` finds; weights and card go to
    `out` (None: where the packaged ones lie). Gives the card. Cut off, it goes on from its checkpoint."""
    folder = out or Path(models.__file__).parent / "weights" / NAME
    posts, model = training_posts(data), LanguageModel.load()
    network = UpperLanguage(model, seed=seed)
    triples = read_triples(network, model, posts, base, seed=seed, count=pairs)
    card = train_on(network, triples, folder, loss=loss, seed=seed, data=data, left_out=posts.left_out, say=say)
    say("measuring on dev")
    metrics = {"dev": measure(load_checkthat(data, "dev"), base, tuned_model(folder))}
    return write_artifact(folder, FILE, (folder / FILE).read_bytes(), card | {"metrics": metrics})


def measure(posts: PostCollection, base: BlendRanker, model: LanguageModel) -> dict[str, dict[str, float]]:
    """MAP@1 and MAP@5 of the blend, and of the blend with the model's opinion."""
    figures = {}
    for ranker in (base, base.with_opinion(second_opinion(model))):
        run = rank_posts(ranker, posts)
        of_posts = {f"map{k}": per_query(run, posts.qrels, average_precision(k)) for k in (1, 5)}
        figures[ranker.name] = {metric: round(mean(values), 4) for metric, values in of_posts.items()}
    return figures


def train_on(
    network: UpperLanguage, triples: Sequence[Triple], folder: Path, *, loss: str, seed: int, data: Path, left_out: int,
    say: Callable[[str], None],
) -> dict[str, Any]:  # fmt: skip
    """As `train`, from pairs that were read. Gives the card."""
    say(f"{len(triples)} pairs, {loss}")
    checkpoint = folder / "checkpoint"
    fit(
        network, triples, LOSSES[loss], seed=seed, checkpoint=checkpoint,
        identity=f"{NAME} {VERSION} {loss} {len(triples)} {seed}", say=say,
    )  # fmt: skip
    content = save({name: weight.half().contiguous() for name, weight in network.changes().items()})
    card = {
        "name": NAME,
        "version": VERSION,
        "language_model": PACKAGED_SHA256,
        "data": "CheckThat! 2022 task 2A, English, train: the pairs that the blend is least sure of",
        "pairs": len(triples),
        "left_out_as_near_duplicates": left_out,
        "loss": loss,
        "seed": seed,
        "command": f"claimwatch retrain {NAME} --data {data.name} --loss {loss} --seed {seed}",
    }
    written = write_artifact(folder, FILE, content, card)
    checkpoint.unlink(missing_ok=True)
    return written


def fit(
    network: UpperLanguage, triples: Sequence[Triple], loss: Loss, *, seed: int, checkpoint: Path, identity: str,
    say: Callable[[str], None],
) -> None:  # fmt: skip
    """One epoch."""
    numbers = shuffled_batches(len(triples), BATCH, np.random.default_rng(seed))
    batches = [[triples[at] for at in batch] for batch in numbers]

    def loss_of(batch: Sequence[Triple]) -> Tensor:
        logs = network([getattr(triple, row) for row in loss.rows for triple in batch])
        return loss.of(*(logs[start : start + len(batch)] for start in range(0, len(logs), len(batch))))

    learn([(network.trained, RATE)], batches, loss_of, checkpoint=checkpoint, identity=identity, say=say)


def read_triples(
    network: UpperLanguage, model: LanguageModel, posts: TrainingPosts, base: Ranker, *, seed: int, count: int
) -> list[Triple]:
    """Of the pairs of which the base ranker is least sure."""
    facts = posts.collection.fact_checks
    texts = [posts.collection.queries[query] for query in posts.collection.qrels]
    rng = np.random.default_rng(seed)
    chosen: list[tuple[float, int, int, int]] = []  # margin, post, right, wrong
    for number, (gold, scores) in enumerate(zip(posts.gold, base.score(texts, facts), strict=True)):
        right = max(gold, key=lambda fact: scores[fact])
        best = [int(fact) for fact in np.argsort(-scores, kind="stable")[: _NEAR + len(gold)] if fact not in gold]
        chosen.append((float(scores[right] - scores[best[0]]), number, right, int(rng.choice(best[:_NEAR]))))
    rows = []
    for _, number, right, wrong in sorted(chosen)[:count]:
        post = post_segment(model, texts[number])
        right_claim, wrong_claim = (claim_segment(model, facts[fact]) for fact in (right, wrong))
        rows += [Row(right_claim, post), Row(post, right_claim), Row(wrong_claim, post)]
    reads = network.read(rows)
    return [Triple(*reads[start : start + 3]) for start in range(0, len(reads), 3)]


def _firsts(logs: Sequence[Logs]) -> Tensor:
    return torch.stack([found.first.mean() for found in logs])


def _seconds(logs: Sequence[Logs]) -> Tensor:
    return torch.stack([found.second.mean() for found in logs])
