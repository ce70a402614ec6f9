"""What an exploration says of the edits, as the paper's table 2: how often each gains, and how much."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from models.rewriting.edits import POSITIONS
from models.rewriting.exploration import manifest, records

ACTION_NAMES = ("swap", "add synonym", "present", "remove", "add word")  # of so many positions each


@dataclass(frozen=True, slots=True)
class ActionStatistics:
    action: str
    share: float  # of all steps
    gain: float  # on average, of the first metric


@dataclass(frozen=True, slots=True)
class Statistics:
    """`claims` were explored; `improved` of them found a better query, worth `best` on average instead of `worth`."""

    claims: int
    missing: int  # claims of a run that was cut off
    perfect: int
    improved: int
    worth: float
    best: float
    actions: tuple[ActionStatistics, ...]
    lengths: Mapping[int, int]  # edits → sequences
    gains: Mapping[int, float]  # step → gain on average


def statistics(folder: Path) -> Statistics:
    held = manifest.read(folder)
    metric = held["metrics"][0]
    starts, best = worths(folder, metric)
    taken: defaultdict[str, list[float]] = defaultdict(list)
    at_step: defaultdict[int, list[float]] = defaultdict(list)
    lengths: Counter[int] = Counter()
    rows = records.read(folder, "sequences", ["claim", "sequence", "step", "action", metric])
    for _, steps in groupby(rows, key=lambda row: (row["claim"], row["sequence"])):
        worth = next(steps)[metric]
        number = 0
        for number, step in enumerate(steps, 1):
            taken[ACTION_NAMES[step["action"] // POSITIONS]].append(step[metric] - worth)
            at_step[number].append(step[metric] - worth)
            worth = step[metric]
        lengths[number] += 1
    total = sum(map(len, taken.values()))
    return Statistics(
        claims=len(starts),
        missing=held["claims"] - len(starts),
        perfect=sum(worth >= 1 for worth in starts.values()),
        improved=sum(best[claim] > starts[claim] for claim in starts),
        worth=_mean(starts.values()),
        best=_mean(best.values()),
        actions=tuple(
            ActionStatistics(name, len(taken[name]) / total, _mean(taken[name])) for name in ACTION_NAMES if taken[name]
        ),
        lengths=dict(sorted(lengths.items())),
        gains={step: _mean(gains) for step, gains in sorted(at_step.items())},
    )


def worths(folder: Path, metric: str) -> tuple[dict[str, float], dict[str, float]]:
    """What each claim is worth, and the best that was found of it."""
    starts: dict[str, float] = {}
    best: dict[str, float] = {}
    for visit in records.read(folder, "visits", ["claim", "depth", metric]):
        if visit["depth"] == 0:
            starts[visit["claim"]] = visit[metric]
        best[visit["claim"]] = max(best.get(visit["claim"], 0.0), visit[metric])
    return starts, best


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known) if known else 0.0
