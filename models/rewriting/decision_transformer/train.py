"""Trains a decision transformer on episodes: cross-entropy over the legal actions (paper, section 5.1), and the worth
of what every legal edit leads to, losing ones too. A run that was stopped goes on where it was, to the same end."""

import logging
import random
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.rewriting.decision_transformer.encoders import StateEncoder
from models.rewriting.decision_transformer.policy import DecisionPolicy, Size, masked
from models.rewriting.decision_transformer.sequences import PADDING, Episodes, Returns

logger = logging.getLogger(__name__)

_CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True, slots=True)
class Settings:
    """`worth_weight` is of the worths' squared error beside the cross-entropy. Training ends when held-out episodes
    have gained nothing for `patience` epochs, or after `seconds`."""

    size: Size = field(default_factory=Size)
    returns: Returns = "sparse"
    epochs: int = 30
    patience: int = 3
    batch: int = 64
    learning_rate: float = 1e-3
    encoder_learning_rate: float = 3e-4
    weight_decay: float = 0.01
    worth_weight: float = 4.0
    seconds: float = 900.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Losses:
    """Means over episodes' steps, each claim counting once: of the actions, and of the worths."""

    actions: float
    worths: float

    def together(self, settings: Settings) -> float:
        return self.actions + settings.worth_weight * self.worths


@dataclass
class _Run:
    """All that a stopped run needs to go on."""

    policy: DecisionPolicy
    optimizer: torch.optim.AdamW
    rng: np.random.Generator
    epoch: int = 0
    since_best: int = 0
    seconds: float = 0.0
    best: float = float("inf")
    best_weights: dict[str, Tensor] | None = None
    history: list[dict[str, float]] | None = None

    def store(self, path: Path) -> None:
        state = {
            "weights": self.policy.weights(), "optimizer": self.optimizer.state_dict(), "torch": torch.get_rng_state(),
            "numpy": self.rng.bit_generator.state, "epoch": self.epoch, "since_best": self.since_best,
            "seconds": self.seconds, "best": self.best, "best_weights": self.best_weights, "history": self.history,
        }  # fmt: skip
        partial = path.with_suffix(".partial")
        torch.save(state, partial)
        partial.replace(path)

    def restore(self, path: Path) -> None:
        state = torch.load(path, weights_only=True)
        self.policy.take_over(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["torch"])
        self.rng.bit_generator.state = state["numpy"]
        for name in ("epoch", "since_best", "seconds", "best", "best_weights", "history"):
            setattr(self, name, state[name])


def train(
    settings: Settings, learned: Episodes, held_out: Episodes, folder: Path, *, encoder: StateEncoder | None = None,
    card: dict[str, Any] | None = None,
) -> DecisionPolicy:  # fmt: skip
    """The policy of the epoch that was best on the held-out episodes; its weights and card are written to the folder,
    with a checkpoint after each epoch on the way there. Same settings and episodes, same losses on one thread."""
    torch.manual_seed(settings.seed)
    policy = DecisionPolicy.fresh(settings.size, encoder)
    run = _Run(policy, _optimizer(policy, settings), np.random.default_rng(settings.seed), history=[])
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint = folder / _CHECKPOINT
    if checkpoint.exists():
        run.restore(checkpoint)
    while run.epoch < settings.epochs and run.since_best < settings.patience and run.seconds < settings.seconds:
        began = time.monotonic()
        _epoch(run, learned, held_out, settings)
        run.seconds += time.monotonic() - began
        run.store(checkpoint)
    if run.best_weights is not None:
        policy.take_over(run.best_weights)
    policy.network.train(False)
    policy.save(folder, {**(card or {}), **_story(settings, run, learned, held_out)})
    checkpoint.unlink()
    return policy


def _epoch(run: _Run, learned: Episodes, held_out: Episodes, settings: Settings) -> None:
    policy = run.policy
    policy.network.train()
    sums, returns = np.zeros(2), learned.returns(settings.returns)
    for rows in _batches(learned, settings.batch, run.rng):
        run.optimizer.zero_grad()
        actions, worths = _losses(policy, learned, returns, rows)
        (actions + settings.worth_weight * worths).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_([*policy.network.parameters(), *policy.adapters], 1.0)
        run.optimizer.step()
        sums += (actions.item() * len(rows), worths.item() * len(rows))
    if policy.adapters:
        policy.encoder.forget()
    found = evaluate(policy, held_out, settings)
    run.epoch, run.since_best = run.epoch + 1, run.since_best + 1
    if found.together(settings) < run.best:
        run.best, run.since_best, run.best_weights = found.together(settings), 0, policy.weights()
    means = sums / len(learned)
    row = {"actions": means[0], "worths": means[1], "held_out_actions": found.actions, "held_out_worths": found.worths}
    row = {name: round(float(value), 5) for name, value in row.items()}
    assert run.history is not None
    run.history.append(row)
    logger.info("epoch %d: %s", run.epoch, row, extra={"event": "training.epoch", **row})


@torch.no_grad()
def evaluate(policy: DecisionPolicy, episodes: Episodes, settings: Settings) -> Losses:
    policy.network.train(False)
    sums, returns, batch = np.zeros(3), episodes.returns(settings.returns), settings.batch
    for start in range(0, len(episodes), batch):
        rows = np.arange(start, min(start + batch, len(episodes)))
        weight = float(episodes.weights[rows].sum())
        actions, worths = _losses(policy, episodes, returns, rows)
        sums += (actions.item() * weight, worths.item() * weight, weight)
    return Losses(float(sums[0] / sums[2]), float(sums[1] / sums[2]))


def _losses(
    policy: DecisionPolicy, episodes: Episodes, returns: NDArray[np.float32], rows: NDArray[np.int64]
) -> tuple[Tensor, Tensor]:
    """Cross-entropy of the actions and squared error of the worths, over the steps of some episodes."""
    steps = min(policy.size.steps, int((episodes.actions[rows] != PADDING).sum(1).max()))
    numbers, inverse = np.unique(episodes.states[rows, :steps], return_inverse=True)
    states = torch.from_numpy(inverse.reshape(len(rows), steps))
    actions = torch.from_numpy(episodes.actions[rows, :steps])
    to_go = torch.from_numpy(returns[rows, :steps])
    found = policy.outlook(to_go, [episodes.seen[number] for number in numbers], states, actions)
    legal = torch.from_numpy(episodes.legal[numbers])[states]  # (B, K, actions)
    worths = torch.from_numpy(episodes.worths[numbers])[states]
    there = (actions != PADDING) * torch.from_numpy(episodes.weights[rows])[:, None]  # (B, K)
    scores = torch.log_softmax(masked(found.logits, legal), -1)
    chosen = scores.gather(-1, actions.clamp(min=0)[..., None])[..., 0]
    of_actions = -(torch.where(actions == PADDING, 0.0, chosen) * there).sum() / there.sum()
    known = ~worths.isnan()
    errors = torch.where(known, found.worths - worths.nan_to_num(), 0.0).square().sum(-1) / known.sum(-1).clamp(min=1)
    return of_actions, (errors * there).sum() / there.sum()


def _batches(episodes: Episodes, size: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Episodes of a claim stand together, since they share states; claims come in random order."""
    order = rng.permutation(len(np.unique(episodes.claims)))
    place = order[np.unique(episodes.claims, return_inverse=True)[1]]
    rows = np.argsort(place, kind="stable")
    batches = [rows[start : start + size] for start in range(0, len(rows), size)]
    random.Random(int(rng.integers(1 << 31))).shuffle(batches)
    return batches


def _optimizer(policy: DecisionPolicy, settings: Settings) -> torch.optim.AdamW:
    groups: list[dict[str, Any]] = [{"params": list(policy.network.parameters()), "lr": settings.learning_rate}]
    if policy.adapters:
        groups.append({"params": policy.adapters, "lr": settings.encoder_learning_rate})
    return torch.optim.AdamW(groups, weight_decay=settings.weight_decay)


def _story(settings: Settings, run: _Run, learned: Episodes, held_out: Episodes) -> dict[str, Any]:
    told = {name: value for name, value in asdict(settings).items() if name != "size"}
    return {
        "settings": told, "parameters": run.policy.parameters, "seconds": round(run.seconds, 1),
        "epochs": run.epoch, "history": run.history,
        "claims": len(set(learned.claims.tolist())), "episodes": len(learned), "held_out_episodes": len(held_out),
    }  # fmt: skip
