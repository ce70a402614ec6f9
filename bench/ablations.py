"""Three questions of the paper (sections 5.4 and 6), asked of the one-action classifier and the small frozen decision
transformer: are losing sequences worth learning from, are corrupted claims mended, does FEVER teach searching posts?

    PYTHONPATH=. python bench/ablations.py --data ../shared/data --explored FOLDER --out FOLDER --cache FOLDER
        [--parts negatives corrupted transfer] [--seeds 0 1 2]

The folders are those of bench/decision_transformer.py, which trains the policies for the last two parts; for the first
FoolMeTwice's training claims are explored anew, with losing edits. Every policy is measured as it likes (`stopping`, by
the course that was best on held-out claims) and where it must make all its edits (`always`), as the paper's does.
Writes bench/results/ablations.json.
"""

import argparse
import json
import logging
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import torch

from bench.decision_transformer import (
    SETTINGS,
    SOURCES,
    Rewrite,
    Side,
    Task,
    best_target,
    choose_courses,
    open_side,
    open_task,
    query_of,
    rewritten,
    together,
    trained,
)  # fmt: skip
from bench.provenance import RESULTS, provenance, write_result
from bench.rewriting import NAMES
from domain.query import EndpointKind, Query
from models.backbone import Encoder
from models.evaluation.claim_sets import CLAIM_SETS
from models.evaluation.rewriting.learned_rows import claim_of, queries_of
from models.evaluation.rewriting.query_files import written
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.decision_transformer.encoders import StateEncoder, TextEncoder
from models.rewriting.decision_transformer.policy import DecisionPolicy
from models.rewriting.decision_transformer.rollout import Course
from models.rewriting.exploration import run
from models.rewriting.exploration.breadth_first import Limits
from models.rewriting.exploration.run import Plan
from models.rewriting.learned.ranked import LearnedRanked
from models.rewriting.learned.term_weights import TermWeights
from models.rewriting.tagging import tag

ROWS = ("one_action", "dt_frozen_pooled_sparse")
RANKED = EndpointKind.RANKED
# Every state that is kept can end a sequence, so that there are some of each kind to choose from.
_RELAXED = Limits(states=60, losers=2, sequences=300)
_LOSING = 4  # sequences a claim, as many as winning ones
_CORRUPTED = 0.1  # of the training claims
_TRIES = 20  # edits, at most, until one loses
_NEVER = float("-inf")

Queries = Mapping[str, Sequence[Query]]
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Setup:
    arguments: argparse.Namespace
    frozen: StateEncoder

    @property
    def seeds(self) -> list[int]:
        seeds: list[int] = self.arguments.seeds
        return seeds

    def folder(self, label: str, row: str, seed: int) -> Path:
        path: Path = self.arguments.out / label / row / str(seed)
        return path


def negatives(setup: Setup) -> Iterator[Figures]:
    """Trained on improving sequences alone, and on as many losing ones beside them; then FoolMeTwice's test claims."""
    arguments = setup.arguments
    relaxed = arguments.explored / "relaxed"
    split = CLAIM_SETS["fm2"].splits[0]
    for _ in run.run(Plan(arguments.data, "fm2", split, RANKED, _RELAXED), relaxed / f"fm2-{split}-ranked"):
        pass
    with_relaxed = argparse.Namespace(**{**vars(arguments), "explored": relaxed})
    tasks = {
        label: open_task("fm2", RANKED, with_relaxed, losing=losing)
        for label, losing in (("improving", 0), ("improving and losing", _LOSING))
    }
    test = tasks["improving"].test
    found: Figures = {"claim": _means(test, _as_they_are(tasks["improving"], test, test.tokens))}
    for row, (label, task) in product(ROWS, tasks.items()):
        of_label = found.setdefault(label, {"episodes": len(task.learned)})
        of_label[row] = _over_seeds([_trained_on(setup, task, label, row, seed) for seed in setup.seeds])
        print(label, row, of_label[row], flush=True)
        yield found


def _trained_on(setup: Setup, task: Task, label: str, row: str, seed: int) -> Figures:
    folder = setup.folder(f"fm2.ranked {label}", row, seed)
    rewrite: Rewrite = partial(rewritten, trained(task, replace(SETTINGS[row], seed=seed), setup.frozen, folder), task)
    return {
        way: _means(task.test, together([rewrite(task.test, task.test.tokens, course) for course in courses]))
        for way, courses in _both_ways(task, rewrite).items()
    }


def _both_ways(task: Task, rewrite: Rewrite) -> dict[str, tuple[Course, ...]]:
    courses, grid = choose_courses(task, rewrite)
    return {"stopping": courses, "always": (Course(best_target(grid), _NEVER),)}


def corrupted(setup: Setup) -> Iterator[Figures]:
    """FoolMeTwice's claims after one random edit that loses, rewritten: held-out ones, and a tenth of those learned
    from, as in the paper."""
    task = open_task("fm2", RANKED, setup.arguments)
    rng = np.random.default_rng(0)
    learned = sorted(set(task.learned.claims.tolist()))
    some = rng.choice(learned, round(_CORRUPTED * len(learned)), replace=False).tolist()
    broken = {name: _corrupt(task, claims, rng) for name, claims in (
        ("choosing", task.choosing), ("held out", task.judging), ("learned from", some),
    )}  # fmt: skip
    choosing = replace(task, train=broken["choosing"], choosing=tuple(broken["choosing"].tokens))
    found: Figures = {}
    for name in ("held out", "learned from"):
        side = broken[name]
        found[name] = {
            "claims": len(side.tokens), "claim": _means(task.train, _as_they_are(task, task.train, side.tokens)),
            "corrupted": _means(side, _as_they_are(task, side, side.tokens)),
        }  # fmt: skip
    for row in ROWS:
        for name, of_seeds in _mended(setup, choosing, broken, row).items():
            found[name][row] = _over_seeds(of_seeds)
            print(name, row, found[name], flush=True)
    yield found


def _mended(setup: Setup, task: Task, broken: Mapping[str, Side], row: str) -> dict[str, list[Figures]]:
    found: dict[str, list[Figures]] = {"held out": [], "learned from": []}
    for seed in setup.seeds:
        policy = DecisionPolicy.load(setup.folder("fm2.ranked", row, seed), setup.frozen)
        rewrite: Rewrite = partial(rewritten, policy, task)
        ways = _both_ways(task, rewrite)
        for name, of_seeds in found.items():
            side = broken[name]
            queries = {way: together([rewrite(side, side.tokens, c) for c in ways[way]]) for way in ways}
            of_seeds.append({way: _means(side, asked) for way, asked in queries.items()})
    return found


def _corrupt(task: Task, claims: Sequence[str], rng: np.random.Generator) -> Side:
    """The claims that some edit makes worse, each as one such edit leaves it, at random."""
    side, texts = task.train, dict[str, str]()
    own = side.worths(_as_they_are(task, side, claims))
    for _ in range(_TRIES):
        left = [claim for claim in claims if claim not in texts]
        edited = {claim: _random_edit(task, side, claim, rng) for claim in left}
        worths = side.worths({claim: [query_of(state, task.kind)] for claim, state in edited.items()})
        texts |= {claim: state.text for claim, state in edited.items() if worths[claim] < own[claim]}
    return replace(side, tokens=dict(zip(texts, tag(texts.values()), strict=True)))


def _random_edit(task: Task, side: Side, claim: str, rng: np.random.Generator) -> Any:
    state = task.environment.start(side.tokens[claim])
    return task.environment.apply(state, int(rng.choice(np.flatnonzero(task.environment.legal(state)))))


def transfer(setup: Setup) -> Iterator[Figures]:
    """Learned from FEVER's claims, courses and all; then discovery's, beside what was learned there."""
    trained_on = json.loads((RESULTS / "decision_transformer.json").read_text("utf-8"))["rows"]
    task = open_task("discovery", RANKED, setup.arguments)
    dev = open_side("discovery", RANKED, CLAIM_SETS["discovery"].splits[1], Encoder.load(), setup.arguments)
    sides = {"dev": dev, "test": task.test}
    found: Figures = {
        "claim": {name: _means(side, _as_they_are(task, side, side.tokens)) for name, side in sides.items()}
    }
    for row, source in product(ROWS, ("fever", "discovery")):
        of_seeds = []
        for seed in setup.seeds:
            policy = DecisionPolicy.load(setup.folder(f"{source}.ranked", row, seed), setup.frozen)
            ways = _ways_of(trained_on[f"{source}.ranked"][row]["seeds"][str(seed)])
            of_seeds.append(_on_sides(partial(rewritten, policy, task), ways, sides))
        found[f"{row} learned from {source}"] = _over_seeds(of_seeds)
        print(row, source, found[f"{row} learned from {source}"], flush=True)
    yield found | {f"weights for {texts}": _weighed(texts, sides) for texts in ("passages", "posts")}


def _on_sides(rewrite: Rewrite, ways: Mapping[str, Sequence[Course]], sides: Mapping[str, Side]) -> Figures:
    return {
        f"{way}, {name}": _means(side, together([rewrite(side, side.tokens, course) for course in courses]))
        for way, courses in ways.items()
        for name, side in sides.items()
    }


def _ways_of(seed: Mapping[str, Any]) -> dict[str, tuple[Course, ...]]:
    """The courses that were chosen where the policy was trained."""
    biases = [_NEVER if each["stop_bias"] == "never" else each["stop_bias"] for each in seed["courses"]]
    chosen = tuple(Course(each["target"], bias) for each, bias in zip(seed["courses"], biases, strict=True))
    return {"stopping": chosen, "always": (Course(best_target(seed["grid"]), _NEVER),)}


def _weighed(texts: str, sides: Mapping[str, Side]) -> Figures:
    """What ships for ranked endpoints: weights of words, learned for passages or for posts."""
    policy = LearnedRanked(TermWeights.load(RANKED, texts), WordFrequency("en"))
    return {
        name: _means(side, {claim: queries_of(policy.query(claim_of(side.collection, claim))) for claim in side.tokens})
        for name, side in sides.items()
    }


def _as_they_are(task: Task, side: Side, claims: Iterable[str]) -> dict[str, list[Query]]:
    return {claim: [query_of(task.environment.start(side.tokens[claim]), task.kind)] for claim in claims}


def _means(side: Side, queries: Queries) -> Figures:
    """Over the claims that are asked for."""
    scores = side.score(written(queries))
    rows = [number for number, claim in enumerate(scores.claims) if claim in queries]
    means = scores.values[rows].mean(0)
    return {NAMES[metric]: round(float(mean), 4) for metric, mean in zip(scores.metrics, means, strict=True)}


def _over_seeds(seeds: Sequence[Mapping[str, Figures]]) -> Figures:
    """Of each way of asking and each metric the mean, and the standard deviation of the first."""
    found: Figures = {}
    for way, metrics in seeds[0].items():
        found[way] = {metric: round(statistics.mean(seed[way][metric] for seed in seeds), 4) for metric in metrics}
        if len(seeds) > 1:
            found[way]["map50_sd"] = round(statistics.stdev(seed[way]["map50"] for seed in seeds), 4)
    return found


PARTS = {"negatives": negatives, "corrupted": corrupted, "transfer": transfer}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "explored", "out", "cache"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.set_defaults(claims=3000, held_out=300, sequences=4)  # as the policies are trained
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
    torch.set_num_threads(1)
    setup, path = Setup(arguments, StateEncoder(TextEncoder())), RESULTS / "ablations.json"
    parts = json.loads(path.read_text("utf-8"))["parts"] if path.exists() else {}
    sources = [arguments.data / file for file in SOURCES]
    for part in arguments.parts:
        for found in PARTS[part](setup):  # a row more each time
            figures = {"seeds": arguments.seeds, "parts": parts | {part: found}}
            write_result("ablations", figures | provenance(sources, arguments.seeds[0]))
        parts[part] = found


if __name__ == "__main__":
    main()
