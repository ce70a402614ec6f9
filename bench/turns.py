"""What the decision transformer does, edit by edit: figures 4 to 6 of the paper, on FEVER's held-out claims.

    PYTHONPATH=. python bench/turns.py --data ../shared/data --explored FOLDER --out FOLDER --cache FOLDER

The folders are those of bench/decision_transformer.py, which trains the policy. As in the paper, the true score lowers
the return that is asked for and ends what is perfect; nothing else ends it. Left out are claims that are perfect as
they are. Beside what it chooses, what all legal edits of the same claims come to, from the exploration.
Writes bench/results/turns.json and bench/results/rewriting_*.svg.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import torch

from bench.decision_transformer import SOURCES, Side, Task, best_target, open_task, query_of
from bench.linear_charts import Circle, write_bars, write_circles
from bench.provenance import RESULTS, provenance, write_result
from domain.query import EndpointKind
from models.evaluation.claim_sets import CLAIM_SETS
from models.rewriting.decision_transformer.encoders import StateEncoder, TextEncoder
from models.rewriting.decision_transformer.policy import DecisionPolicy
from models.rewriting.decision_transformer.rollout import Course, rollout
from models.rewriting.edits import NAMES, POSITIONS, EditState
from models.rewriting.exploration import manifest, records
from models.rewriting.exploration.breadth_first import PERFECT

SET, ROW, SEED = "fever", "dt_frozen_pooled_sparse", 0
OUTCOMES: Mapping[str, Callable[[float], bool]] = {
    "better": lambda change: change > 0, "the same": lambda change: change == 0, "worse": lambda change: change < 0,
}  # fmt: skip
_ENOUGH = 20  # edits, for a mean to be drawn
# Of edits on Wikipedia's claims, BM25, AP@50 (section 5.3): the mean change by an edit, in points.
PAPER = {"remove": 1.83, "swap": 0.88, "add synonym": -0.34, "present simple": -0.98}


Change = tuple[str, float]  # an edit, and what it changed


@dataclass(frozen=True, slots=True)
class Turns:
    """A claim's worth as it is and after each edit, and what the edits were."""

    worths: tuple[float, ...]
    edits: tuple[str, ...]

    @property
    def changes(self) -> list[Change]:
        steps = zip(self.edits, pairwise(self.worths), strict=True)
        return [(edit, after - before) for edit, (before, after) in steps]


def followed(policy: DecisionPolicy, task: Task, side: Side, claims: Sequence[str], target: float) -> list[Turns]:
    told: defaultdict[str, list[float]] = defaultdict(list)

    def look_up(numbers: Iterable[int], states: Sequence[EditState]) -> list[float]:
        asked = {claims[number]: [query_of(state, task.kind)] for number, state in zip(numbers, states, strict=True)}
        found = side.worths(asked)
        for claim in asked:
            told[claim].append(found[claim])
        return [found[claim] for claim in asked]

    tokens = [side.tokens[claim] for claim in claims]
    ends = rollout(policy, task.environment, tokens, Course(target), look_up)
    look_up(range(len(claims)), ends)  # the last edit's outcome is not asked for on the way
    return [
        Turns(tuple(told[claim][: len(end.trail) + 1]), tuple(edit.action for edit in end.trail))
        for claim, end in zip(claims, ends, strict=True)
    ]


def by_turn(turns: Sequence[Turns]) -> dict[str, list[dict[str, float]]]:
    """Of the claims that end better, the same or worse: how many are there at each turn, and what they are worth."""
    found = {}
    for outcome, is_so in OUTCOMES.items():
        chosen = [each.worths for each in turns if is_so(each.worths[-1] - each.worths[0])]
        longest = max(map(len, chosen), default=0)
        there = [[worths[turn] for worths in chosen if len(worths) > turn] for turn in range(longest)]
        found[outcome] = [
            {"turn": turn, "claims": len(worths), "map50": round(mean(worths), 4)}
            for turn, worths in enumerate(there, 1)
        ]
    return found


def legal_first_edits(folder: Path, claims: Collection[str]) -> list[Change]:
    """All that can be done to the claims as they are."""
    metric = manifest.read(folder)["metrics"][0]
    rows = records.read(folder, "visits", ["claim", "depth", "actions", metric, f"{metric} of actions"])
    return [
        (NAMES[action // POSITIONS], after - row[metric])
        for row in rows
        if row["depth"] == 0 and row["claim"] in claims
        for action, after in zip(row["actions"], row[f"{metric} of actions"], strict=True)
    ]


def by_action(steps: Sequence[Change]) -> dict[str, dict[str, Any]]:
    """Of each kind of edit: shares of all edits by what came of them, and mean changes in points of AP@50."""
    found = {}
    for action in NAMES:
        changes = [change for edit, change in steps if edit == action]
        counts = Counter(outcome for change in changes for outcome, is_so in OUTCOMES.items() if is_so(change))
        found[action] = {
            "edits": len(changes),
            "share": {outcome: round(counts[outcome] / len(steps), 4) for outcome in OUTCOMES},
            "change": {
                "where better": _mean_of(changes, OUTCOMES["better"]),
                "all edits": _mean_of(changes, lambda _: True),
                "where worse": _mean_of(changes, OUTCOMES["worse"]),
            },
        }
    return found


def _mean_of(changes: Sequence[float], is_so: Callable[[float], bool]) -> float:
    chosen = [change for change in changes if is_so(change)]
    return round(100 * mean(chosen), 2) if chosen else 0.0


def draw_turns(turns: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    lines = {
        f"{outcome} at the end": [Circle(each["turn"], each["map50"], each["claims"]) for each in line]
        for outcome, line in turns.items()
    }
    title = "Worth of the queries at each turn; a circle's area: how many are left"
    write_circles(RESULTS / "rewriting_turns.svg", title, ("turn (1: the claim)", "mAP@50"), lines)


def draw_actions(whose: str, label: str, actions: Mapping[str, Mapping[str, Any]]) -> None:
    shares = {action: {name: 100 * share for name, share in each["share"].items()} for action, each in actions.items()}
    path = RESULTS / f"rewriting_{label}actions.svg"
    write_bars(path, f"{whose} by what came of them", ("", "% of these edits"), shares)
    means = {action: each["change"] if each["edits"] >= _ENOUGH else {} for action, each in actions.items()}
    path = RESULTS / f"rewriting_{label}changes.svg"
    write_bars(path, f"{whose}: mean change by one", ("", "points of AP@50"), means)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "explored", "out", "cache"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.set_defaults(claims=1, held_out=10_000, sequences=1)  # all that are held out; nothing is learned here
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    task, label = open_task(SET, EndpointKind.RANKED, arguments), f"{SET}.ranked"
    policy = DecisionPolicy.load(arguments.out / label / ROW / str(SEED), StateEncoder(TextEncoder()))
    trained = json.loads((RESULTS / "decision_transformer.json").read_text("utf-8"))["rows"][label][ROW]
    target = best_target(trained["seeds"][str(SEED)]["grid"])
    claims = [*task.choosing, *task.judging]
    every = followed(policy, task, task.train, claims, target)
    turns = [each for each in every if each.worths[0] < PERFECT]
    at_turns, chosen = by_turn(turns), by_action([step for each in turns for step in each.changes])
    imperfect = {claim for claim, each in zip(claims, every, strict=True) if each.worths[0] < PERFECT}
    split = CLAIM_SETS[SET].splits[0]
    legal = by_action(legal_first_edits(arguments.explored / f"{SET}-{split}-{EndpointKind.RANKED}", imperfect))
    draw_turns(at_turns)
    draw_actions("Edits chosen", "", chosen)
    draw_actions("Legal first edits", "legal_", legal)
    whose = {"claims_of": f"{SET} {split}, held out", "claims": len(turns), "target": target}
    whose |= {"perfect_as_they_are": len(every) - len(turns), "policy": ROW}
    sources = [arguments.data / file for file in SOURCES]
    found = {"turns": at_turns, "chosen": chosen, "legal": legal, "paper_change": PAPER}
    print(json.dumps(found, indent=1))
    print(write_result("turns", whose | found | provenance(sources, SEED)))


if __name__ == "__main__":
    main()
