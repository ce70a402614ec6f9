"""Breadth-first search over the edits of one claim (paper section 3.3).

A state is taken up if its edit gained; each text once, by the shortest and best way to it. What every legal edit of
such a state is worth is kept, losing ones too: a policy that sees only winning edits learns to edit where it should
not.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

PERFECT = 1.0 - 1e-9


class State(Protocol):
    @property
    def key(self) -> str:
        """Equal for states that are the same query."""
        ...


S = TypeVar("S", bound=State)


@dataclass(frozen=True, slots=True)
class Children(Generic[S]):
    """The states that the legal edits of a state lead to, by action, and what each is worth: (edits, metrics)."""

    actions: Sequence[int]
    states: Sequence[S]
    worths: NDArray[np.float64]


Expand = Callable[[Sequence[S]], Sequence[Children[S]]]  # of all states of a depth at once


@dataclass(frozen=True, slots=True)
class Limits:
    """How far is searched. Gains are those of the first metric."""

    depth: int = 4
    least_gain: float = 0.01  # an edit that gains less is not followed
    left_out: float = 0.05  # share of gaining edits that is not followed, at random
    states: int = 200  # taken up at each depth, the best
    sequences: int = 50  # kept of a claim, the best
    losers: int = 0  # edits that do not gain, followed from each state: negatives


@dataclass(frozen=True, slots=True)
class Visit(Generic[S]):
    """A state that was taken up: `worth` (metrics,), the actions that led to it from the start, and its children
    unless it is as deep as is searched."""

    state: S
    worth: NDArray[np.float64]
    actions: tuple[int, ...] = ()
    parent: "Visit[S] | None" = None
    children: Children[S] | None = None

    @property
    def depth(self) -> int:
        return len(self.actions)

    def path(self) -> "list[Visit[S]]":
        """From the start to this state."""
        return [*(self.parent.path() if self.parent else []), self]


@dataclass(frozen=True, slots=True)
class Exploration(Generic[S]):
    visits: list[Visit[S]]
    sequences: list[Visit[S]]  # the ends of the best ways, best first
    evaluations: int


@dataclass
class _Search(Generic[S]):
    expand: Expand[S]
    limits: Limits
    rng: np.random.Generator
    ways: Set[tuple[int, ...]]  # each with all its beginnings
    visits: list[Visit[S]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    evaluations: int = 1

    def level(self, frontier: list[Visit[S]], depth: int) -> list[Visit[S]]:
        """Take up the states of a depth; those to go on with."""
        if depth == self.limits.depth:
            self.visits += frontier
            return []
        following: list[Visit[S]] = []
        for visit, children in zip(frontier, self.expand([visit.state for visit in frontier]), strict=True):
            taken = replace(visit, children=children)
            self.visits.append(taken)
            self.evaluations += len(children.actions)
            following += self._followed(taken, children)
        following.sort(key=lambda visit: (visit.actions not in self.ways, -visit.worth[0], visit.state.key))
        best: list[Visit[S]] = []
        for visit in following:
            if visit.state.key not in self.seen:
                self.seen.add(visit.state.key)
                best.append(visit)
        return best[: self.limits.states]

    def _followed(self, parent: Visit[S], children: Children[S]) -> Iterator[Visit[S]]:
        gains = children.worths[:, 0] - parent.worth[0] if len(children.actions) else np.zeros(0)
        gaining = np.flatnonzero(gains >= self.limits.least_gain)
        chosen = gaining[self.rng.random(len(gaining)) >= self.limits.left_out]
        if self.limits.losers:
            losing = np.flatnonzero(gains <= 0)
            chosen = np.union1d(chosen, self.rng.choice(losing, min(self.limits.losers, len(losing)), replace=False))
        wanted = set(chosen.tolist())
        for number, action in enumerate(children.actions):
            actions = (*parent.actions, action)
            if number in wanted or actions in self.ways:
                yield Visit(children.states[number], children.worths[number], actions, parent)


def explore(
    start: S, worth: NDArray[np.float64], expand: Expand[S], limits: Limits, rng: np.random.Generator,
    ways: Iterable[Sequence[int]] = (),
) -> Exploration[S]:  # fmt: skip
    """Search from a start of known worth (metrics,). Of a claim that is perfect, only its own edits are looked at.

    `ways` are actions known to lead to something good: they are followed whatever each of them gains.
    """
    beginnings = {tuple(way[:end]) for way in ways for end in range(1, len(way) + 1)}
    search = _Search(expand, limits, rng, beginnings)
    search.seen.add(start.key)
    is_perfect = bool(worth[0] >= PERFECT)
    frontier = [Visit(start, worth)]
    for depth in range(1 if is_perfect else limits.depth + 1):
        if frontier:
            frontier = search.level(frontier, depth)
    ends = [visit for visit in search.visits if visit.depth and (limits.losers or visit.worth[0] > worth[0])]
    ends.sort(key=lambda visit: (-visit.worth[0], visit.depth, visit.state.key))
    return Exploration(search.visits, ends[: limits.sequences], search.evaluations)
