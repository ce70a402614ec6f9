"""One training loop for networks that are tuned a few thousand steps: it can be cut off and goes on where it was."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

_CLIP = 1.0  # norm of gradients
_WARM_UP = 0.1  # of all steps
_EVERY = 20  # steps from one checkpoint to the next

Batch = TypeVar("Batch")
Group = tuple[Sequence[nn.Parameter], float]  # what is trained together, and the highest rate of its one cycle


class Descent:
    """AdamW on groups of weights, each at its rate of one cycle over `steps`, gradients clipped."""

    def __init__(self, groups: Sequence[Group], steps: int) -> None:
        self._weights = [weight for weights, _ in groups for weight in weights]
        self._optimizer = torch.optim.AdamW([{"params": list(weights), "lr": rate} for weights, rate in groups])
        self._schedule = torch.optim.lr_scheduler.OneCycleLR(
            self._optimizer, [rate for _, rate in groups], total_steps=steps + 1, pct_start=_WARM_UP
        )

    def step(self, loss: Tensor) -> None:
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._weights, _CLIP)
        self._optimizer.step()
        self._schedule.step()

    def state(self) -> dict[str, Any]:
        """The weights too."""
        return {
            "weights": [weight.detach() for weight in self._weights],
            "optimizer": self._optimizer.state_dict(),
            "schedule": self._schedule.state_dict(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        with torch.no_grad():
            for weight, kept in zip(self._weights, state["weights"], strict=True):
                weight.copy_(kept)
        self._optimizer.load_state_dict(state["optimizer"])
        self._schedule.load_state_dict(state["schedule"])


def learn(
    groups: Sequence[Group], batches: Sequence[Batch], loss_of: Callable[[Batch], Tensor], *, checkpoint: Path,
    identity: str, say: Callable[[str], None],
) -> None:  # fmt: skip
    """One step for each batch. A checkpoint of the same `identity`, which names all that the result depends on, is
    gone on from; it stays until the caller has put the result away."""
    descent = Descent(groups, len(batches))
    begun = _resume(checkpoint, identity, descent)
    if begun:
        say(f"going on after step {begun} of {len(batches)}")
    losses: list[float] = []
    for step, batch in enumerate(batches[begun:], begun + 1):
        loss = loss_of(batch)
        descent.step(loss)
        losses.append(loss.item())
        if step % _EVERY == 0 or step == len(batches):
            say(f"step {step} of {len(batches)}: loss {sum(losses) / len(losses):.3f}")
            losses.clear()
            checkpoint.parent.mkdir(parents=True, exist_ok=True)
            partial = checkpoint.with_suffix(".partial")
            torch.save({"identity": identity, "step": step, **descent.state()}, partial)
            os.replace(partial, checkpoint)


def _resume(checkpoint: Path, identity: str, descent: Descent) -> int:
    """Steps that are done."""
    if not checkpoint.is_file():
        return 0
    state = torch.load(checkpoint, weights_only=True)
    if state["identity"] != identity:
        return 0
    descent.restore(state)
    return int(state["step"])


def shuffled_batches(count: int, size: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """Numbers below `count`, each once."""
    order = rng.permutation(count).tolist()
    return (order[start : start + size] for start in range(0, count, size))
