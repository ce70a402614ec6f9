"""One training loop for networks that are tuned a few thousand steps: it can be cut off and goes on where it was."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, nn

_CLIP = 1.0  # norm of gradients
_WARM_UP = 0.1  # of all steps
_EVERY = 20  # steps from one checkpoint to the next

Batch = TypeVar("Batch")
Group = tuple[Sequence[nn.Parameter], float]  # what is trained together, and the highest rate of its one cycle


def learn(
    groups: Sequence[Group], batches: Sequence[Batch], loss_of: Callable[[Batch], Tensor], *, checkpoint: Path,
    identity: str, say: Callable[[str], None],
) -> None:  # fmt: skip
    """One step of AdamW for each batch. A checkpoint of the same `identity`, which names all that the result depends
    on, is gone on from; it stays until the caller has put the result away."""
    trained = [weight for weights, _ in groups for weight in weights]
    rates = [rate for _, rate in groups]
    optimizer = torch.optim.AdamW([{"params": list(weights), "lr": rate} for weights, rate in groups])
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, rates, total_steps=len(batches) + 1, pct_start=_WARM_UP
    )  # fmt: skip
    begun = _resume(checkpoint, identity, trained, optimizer, schedule)
    if begun:
        say(f"going on after step {begun} of {len(batches)}")
    losses: list[float] = []
    for step, batch in enumerate(batches[begun:], begun + 1):
        loss = loss_of(batch)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(trained, _CLIP)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % _EVERY == 0 or step == len(batches):
            say(f"step {step} of {len(batches)}: loss {sum(losses) / len(losses):.3f}")
            losses.clear()
            state = {
                "identity": identity,
                "step": step,
                "weights": [weight.detach() for weight in trained],
                "optimizer": optimizer.state_dict(),
                "schedule": schedule.state_dict(),
            }
            checkpoint.parent.mkdir(parents=True, exist_ok=True)
            partial = checkpoint.with_suffix(".partial")
            torch.save(state, partial)
            os.replace(partial, checkpoint)


def _resume(
    checkpoint: Path, identity: str, trained: Sequence[nn.Parameter], optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
) -> int:  # fmt: skip
    """Steps that are done."""
    if not checkpoint.is_file():
        return 0
    state = torch.load(checkpoint, weights_only=True)
    if state["identity"] != identity:
        return 0
    with torch.no_grad():
        for weight, kept in zip(trained, state["weights"], strict=True):
            weight.copy_(kept)
    optimizer.load_state_dict(state["optimizer"])
    schedule.load_state_dict(state["schedule"])
    return int(state["step"])
