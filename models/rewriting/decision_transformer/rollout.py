"""From claims to queries by a decision transformer, edit by edit, many claims at once.

Without gold texts the return-to-go is lowered by what the policy itself expects of each query. The paper lowers it by
the true score, and stops where that is perfect (section 3.2, figure 4): that takes the answer, and is a row apart.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.rewriting.decision_transformer.environments import Environment, Seen, State
from models.rewriting.decision_transformer.policy import DecisionPolicy, masked
from models.rewriting.edits import POSITIONS
from models.rewriting.exploration.breadth_first import PERFECT
from models.rewriting.tagging import Token

_BATCH = 256  # claims

Feedback = Callable[[Sequence[int], Sequence[State]], Sequence[float]]  # numbers of claims, states → true worths


@dataclass(frozen=True, slots=True)
class Course:
    """How a rollout is steered; neither is in the paper, so both are chosen on held-out claims: the return asked for at
    the start, and what is added to the logit of stopping (minus infinity: all edits are made)."""

    target: float = 1.0
    stop_bias: float = 0.0


@dataclass
class _Path(Generic[State]):
    number: int
    states: list[State]
    returns: list[float]
    actions: list[int] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    is_done: bool = False


def rollout(
    policy: DecisionPolicy, environment: Environment[State], claims: Sequence[tuple[Token, ...]], course: Course,
    feedback: Feedback[State] | None = None,
) -> list[State]:  # fmt: skip
    """The last state of each claim, its trail within. With `feedback` the paper's protocol: the return is lowered by
    the true worth, and the claim is edited until it is perfect or K edits are made."""
    last: list[State] = []
    for start in range(0, len(claims), _BATCH):
        paths = [
            _Path(number, [environment.start(tokens)], [course.target])
            for number, tokens in enumerate(claims[start : start + _BATCH], start)
        ]
        for _ in range(policy.size.steps):
            if feedback is not None:
                _look_up(feedback, [path for path in paths if not path.is_done])
            if going := [path for path in paths if not path.is_done]:
                _step(policy, environment, going, course, is_told=feedback is not None)
        last += [path.states[-1] for path in paths]
    return last


def _look_up(feedback: Feedback[State], paths: Sequence[_Path[State]]) -> None:
    """The true worths: what the last edit led to lowers the return, and what is perfect is done."""
    worths = feedback([path.number for path in paths], [path.states[-1] for path in paths])
    for path, worth in zip(paths, worths, strict=True):
        path.is_done = worth >= PERFECT
        if path.actions:
            path.returns[-1] = _lowered(path.returns[-1], worth)


def _lowered(to_go: float, worth: float) -> float:
    return max(0.0, to_go - worth)


def _step(
    policy: DecisionPolicy, environment: Environment[State], paths: Sequence[_Path[State]], course: Course, *,
    is_told: bool,
) -> None:  # fmt: skip
    legal = np.array([np.append(environment.legal(path.states[-1]), True) for path in paths])
    stop = legal.shape[1] - 1
    for path in paths:
        path.seen.append(environment.seen(path.states[-1]))
    logits, worths = _outlook(policy, paths, legal)
    logits[:, stop] += -np.inf if is_told else course.stop_bias
    logits[~legal[:, :stop].any(1), stop] = 0.0  # nothing else is left to do
    for path, action, expected in zip(paths, logits.argmax(1).tolist(), worths, strict=True):
        if action == stop:
            path.is_done = True
            continue
        path.actions.append(action)
        path.states.append(environment.apply(path.states[-1], action))
        to_go = path.returns[-1]
        path.returns.append(to_go if is_told else _lowered(to_go, float(expected[action])))


@torch.no_grad()
def _outlook(
    policy: DecisionPolicy, paths: Sequence[_Path[State]], legal: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(paths, actions) each: logits of the next action, -inf for illegal ones, and what the query is worth after it."""
    policy.network.train(False)
    seen = [each for path in paths for each in path.seen]
    steps = len(paths[0].seen)  # all have gone equally far
    numbers = torch.arange(len(seen)).view(len(paths), steps)
    returns = torch.tensor([path.returns for path in paths])
    actions = torch.tensor([[*path.actions, 0] for path in paths])  # the last is what is asked
    found = policy.outlook(returns, seen, numbers, actions)
    logits: Tensor = masked(found.logits[:, -1], torch.from_numpy(legal))
    return logits.numpy(), found.worths[:, -1].numpy()


def kind_of(action: int) -> int:
    """Of an edit, as numbered in `edits` and `boolean_edits`."""
    return action // POSITIONS
