"""What a search over edits found, as episodes to learn from: (return-to-go, state, action) x K (paper, section 3.2).

A policy that sees only winning edits learns to edit where it should not. So stopping is an action, too, right where no
legal edit gains; and of each state all legal edits are kept with what they lead to, losing ones too.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from domain.errors import BadInput
from models.rewriting.decision_transformer.environments import Environment, Seen, State
from models.rewriting.edits import POSITIONS
from models.rewriting.exploration import manifest, records
from models.rewriting.tagging import Token

Returns = Literal["sparse", "dense"]

LEAST_GAIN = 0.01  # less is no reason to go on editing
PADDING = -1  # as an action


@dataclass(frozen=True, slots=True)
class Episodes:
    """`legal` and `worths` are of the distinct states, (states, actions + 1), the last action being to stop; a worth is
    what the query is worth after the action, NaN where that is not known. The rest is (episodes, K) or (episodes,).
    `rewards` are what the query was worth after each action, `best` the best that was found of the claim; `weights` of
    a claim's episodes add up to 1."""

    seen: tuple[Seen, ...]
    legal: NDArray[np.bool_]
    worths: NDArray[np.float32]
    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float32]
    best: NDArray[np.float32]
    weights: NDArray[np.float32]
    claims: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.states)

    def of(self, claims: Collection[str]) -> "Episodes":
        """Only those of the claims; the states stay."""
        chosen = np.isin(self.claims, list(claims))
        return replace(
            self, states=self.states[chosen], actions=self.actions[chosen], rewards=self.rewards[chosen],
            best=self.best[chosen], weights=self.weights[chosen], claims=self.claims[chosen],
        )  # fmt: skip

    def returns(self, kind: Returns) -> NDArray[np.float32]:
        """(episodes, K), to go before each action. Dense: the sum of the scores to come. Sparse: the claim's best score
        at the last step, 0 at all others (paper, section 3.2)."""
        if kind == "dense":
            return np.cumsum(self.rewards[:, ::-1], axis=1)[:, ::-1].copy()
        lengths = (self.actions != PADDING).sum(1)
        found = np.zeros_like(self.rewards)
        found[np.arange(len(found)), lengths - 1] = self.best
        return found


class _Visit(NamedTuple):
    worth: float
    actions: list[int]
    after: list[float]  # what each of the actions leads to

    @property
    def has_no_gain(self) -> bool:
        return max(self.after, default=0.0) < self.worth + LEAST_GAIN


def read_episodes(
    folder: Path, claims: Mapping[str, tuple[Token, ...]], environment: Environment[State], *, steps: int,
    most: int, losing: int = 0,
) -> Episodes:  # fmt: skip
    """Of an explored folder, for claims as tagged: at most `most` of each claim's best sequences, of `steps` actions,
    and at most `losing` of those that end below the claim, from the mildest to the worst (negatives; paper, 5.4).

    A claim that no edit gains anything for is an episode that stops at once; one that gains little is left out. Raises
    BadInput for a folder that cannot be read or was not made of these claims.
    """
    metric = manifest.read(folder)["metrics"][0]
    visits = _visits(folder, metric)
    sequences = _sequences(folder, metric, most, losing)
    building = _Building(environment.kinds * POSITIONS, steps)
    for claim, visited in visits.items():
        if claim not in claims:
            raise BadInput(f"{folder} holds the claim {claim}, which is not among those given")
        start = environment.start(claims[claim])
        best = max(visit.worth for visit in visited.values())
        improving, worsening = sequences.get(claim, ([], []))
        ways = (improving or ([()] if visited[environment.key(start)].has_no_gain else [])) + worsening
        for way in ways:
            path = [start]
            for action in way:
                path.append(environment.apply(path[-1], action))
            known = [visited.get(environment.key(state)) for state in path]
            if None in known:
                raise BadInput(f"{folder} was made with other edits: its ways for the claim {claim} lead elsewhere")
            building.add(claim, environment, path, [v for v in known if v], way, best=best, share=1 / len(ways))
    return building.episodes()


def _visits(folder: Path, metric: str) -> dict[str, dict[str, _Visit]]:
    """Claim → key of a state → what is known of it."""
    found: defaultdict[str, dict[str, _Visit]] = defaultdict(dict)
    for row in records.read(folder, "visits", ["claim", "text", "actions", metric, f"{metric} of actions"]):
        found[row["claim"]][row["text"]] = _Visit(row[metric], row["actions"], row[f"{metric} of actions"])
    return dict(found)


_Ways = list[tuple[int, ...]]  # the actions of each


def _sequences(folder: Path, metric: str, most: int, losing: int) -> dict[str, tuple[_Ways, _Ways]]:
    """Claim → the best ways that end above it, best first, and some that end below."""
    above: defaultdict[str, _Ways] = defaultdict(list)
    below: defaultdict[str, _Ways] = defaultdict(list)
    for (claim, _), rows in groupby(
        records.read(folder, "sequences", ["claim", "sequence", "step", "action", metric]), key=_claim_and_number
    ):
        steps = list(rows)
        gain = steps[-1][metric] - steps[0][metric]
        actions = tuple(step["action"] for step in steps[1:])
        if gain > 0 and len(above[claim]) < most:
            above[claim].append(actions)
        elif gain < 0 and losing:
            below[claim].append(actions)
    return {claim: (above[claim], _spread(below[claim], losing)) for claim in above.keys() | below.keys()}


def _spread(ways: _Ways, most: int) -> _Ways:
    """Some of them, as far apart as can be."""
    places = np.linspace(0, len(ways) - 1, min(most, len(ways))).round().astype(int)
    return [ways[place] for place in places]


def _claim_and_number(row: Mapping[str, Any]) -> tuple[str, int]:
    return row["claim"], row["sequence"]


class _Building:
    """Collects episodes; states that several share are kept once."""

    def __init__(self, actions: int, steps: int) -> None:
        self._stop, self._steps = actions, steps
        self._numbers: dict[tuple[str, str], int] = {}
        self._seen: list[Seen] = []
        self._legal: list[NDArray[np.bool_]] = []
        self._worths: list[NDArray[np.float32]] = []
        self._rows: list[tuple[str, float, float, list[int], list[int], list[float]]] = []

    def add(
        self, claim: str, environment: Environment[State], path: list[State], visits: list[_Visit],
        way: tuple[int, ...], *, best: float, share: float,
    ) -> None:  # fmt: skip
        actions, rewards = list(way[: self._steps]), [visit.worth for visit in visits[1 : self._steps + 1]]
        if len(actions) < self._steps and visits[len(actions)].has_no_gain:
            actions.append(self._stop)
            rewards.append(visits[-1].worth)  # the query that is left is what stopping earns
        states = [
            self._number(claim, environment, state, visit)
            for state, visit, _ in zip(path, visits, actions, strict=False)
        ]
        self._rows.append((claim, share, best, states, actions, rewards))

    def _number(self, claim: str, environment: Environment[State], state: State, visit: _Visit) -> int:
        key = (claim, environment.key(state))
        if key not in self._numbers:
            self._numbers[key] = len(self._seen)
            worths = np.full(self._stop + 1, np.nan, np.float32)
            worths[visit.actions] = visit.after
            worths[self._stop] = visit.worth
            self._seen.append(environment.seen(state))
            self._legal.append(np.append(environment.legal(state), True))
            self._worths.append(worths)
        return self._numbers[key]

    def episodes(self) -> Episodes:
        if not self._rows:
            raise BadInput("the exploration holds nothing to learn from: explore more claims")
        claims, weights, best, states, actions, rewards = zip(*self._rows, strict=True)
        return Episodes(
            tuple(self._seen), np.array(self._legal), np.array(self._worths),
            self._padded(states, 0).astype(np.int64), self._padded(actions, PADDING).astype(np.int64),
            self._padded(rewards, 0.0).astype(np.float32), np.array(best, np.float32), np.array(weights, np.float32),
            np.array(claims),
        )  # fmt: skip

    def _padded(self, rows: tuple[list[Any], ...], padding: float) -> NDArray[Any]:
        return np.array([row + [padding] * (self._steps - len(row)) for row in rows])


def held_out(groups: Mapping[str, str], *, share: float, seed: int) -> Iterator[str]:
    """Claims for choosing settings by: those of a share of the groups (pages, articles), so that none of their like is
    learned from."""
    distinct = sorted(set(groups.values()))
    order = np.random.default_rng(seed).permutation(len(distinct))
    chosen = {distinct[i] for i in order[: round(share * len(distinct))]}
    return (claim for claim, group in groups.items() if group in chosen)
