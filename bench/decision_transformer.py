"""Decision transformers for every endpoint: trained, steered on held-out claims, rolled out on the test split once.

    PYTHONPATH=. python bench/decision_transformer.py --data ../shared/data --explored FOLDER --out FOLDER
        --cache FOLDER [--only fm2.ranked] [--rows dt_frozen_pooled_sparse …] [--seeds 0 1 2] [--claims 3000]
        [--sequences 4]

`--explored` holds the folders that `claimwatch explore` made, named as discovery-train-ranked (for discovery with
`--analyser english`); `--out` keeps the trained policies, which are not trained again. Of the first seed a query file
of the test split is written for each row (models/evaluation/rewriting/query_files.py), which bench/rewriting.py scores.
Writes bench/results/decision_transformer.json: each seed's figures, their mean and standard deviation.

Held out are 15 % of the pages or articles. The first half of their claims ends training and chooses the course (the
return asked for, and how readily it stops); the second half says what it is then worth.
"""

import argparse
import json
import logging
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import torch

from bench.provenance import RESULTS, provenance, write_result
from bench.rewriting import DT_TOLD, FILES
from domain.query import EndpointKind, Query
from models.backbone import Encoder
from models.evaluation import data_files
from models.evaluation.claim_sets import CLAIM_SETS, load_claims
from models.evaluation.collections import ClaimCollection
from models.evaluation.rewriting.endpoints import Score, open_score
from models.evaluation.rewriting.query_files import QueryFile, write_queries, written
from models.evaluation.rewriting.scores import scored_claims
from models.retrieval.boolean import BooleanIndex
from models.rewriting.boolean_edits import BooleanEdits, BooleanState
from models.rewriting.decision_transformer.encoders import StateEncoder, TextEncoder
from models.rewriting.decision_transformer.environments import BooleanEnvironment, Environment, TextEnvironment
from models.rewriting.decision_transformer.policy import DecisionPolicy, Size
from models.rewriting.decision_transformer.rollout import Course, rollout
from models.rewriting.decision_transformer.sequences import Episodes, held_out, read_episodes
from models.rewriting.decision_transformer.train import Settings, train
from models.rewriting.edits import EditState, TextEdits
from models.rewriting.tagging import Token, tag

HELD_OUT = 0.15
STEPS = 4
QUERIES = 3  # a claim, on a boolean platform
# Narrow and shallow: what two shared cores train in minutes. The paper's size is 6 layers, 8 heads, width 768.
_SMALL = Size(layers=2, heads=4, width=128)
_TARGETS = (0.0, 1.0, 3.0)
_STOP_BIASES = (float("-inf"), -3.0, -1.5, 0.0)
SETTINGS: Mapping[str, Settings] = {
    "dt_frozen_pooled_sparse": Settings(_SMALL),
    "dt_frozen_pooled_dense": Settings(_SMALL, "dense"),
    "one_action": Settings(replace(_SMALL, layers=0, steps=1)),
    "dt_frozen_pointer_sparse": Settings(replace(_SMALL, state="pointer")),
    "dt_frozen_pointer_dense": Settings(replace(_SMALL, state="pointer"), "dense"),
    "dt_tuned_pooled_dense": Settings(replace(_SMALL, encoder="tuned"), "dense", epochs=3, batch=32, seconds=900),
    "dt_tuned_pooled_sparse": Settings(replace(_SMALL, encoder="tuned"), epochs=3, batch=32, seconds=900),
    "dt_tuned_pointer_sparse": Settings(
        replace(_SMALL, state="pointer", encoder="tuned"), epochs=3, batch=32, seconds=900
    ),
}
_OF_TOLD = "dt_frozen_pooled_dense"  # the paper's protocol, of the policy of this row
CARD = "card.json"
_FIGURES = ("rewritten", "edited", "test", "always", "always_test")
SOURCES = (*FILES, "discovery/train.claims.tsv", "discovery/train.qrels.tsv")

State = EditState | BooleanState
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Side:
    """Claims of one split as tagged, and what scores queries for them."""

    collection: ClaimCollection
    score: Score
    tokens: Mapping[str, tuple[Token, ...]]

    def worths(self, queries: Mapping[str, Sequence[Query]]) -> dict[str, float]:
        """The first metric, by claim."""
        found = self.score(written(queries))
        return found.of(found.metrics[0])

    def mean(self, queries: Mapping[str, Sequence[Query]]) -> float:
        """Over these claims."""
        worths = self.worths(queries)
        return sum(worths[claim] for claim in queries) / len(queries)


@dataclass(frozen=True, slots=True)
class Task:
    name: str
    kind: EndpointKind
    environment: Environment[Any]
    train: Side
    test: Side
    learned: Episodes
    stopped_by: Episodes  # held out: ends training
    choosing: tuple[str, ...]  # claims held out: the course is chosen by the first, judged by the second
    judging: tuple[str, ...]


def open_task(name: str, kind: EndpointKind, arguments: argparse.Namespace, *, losing: int = 0) -> Task:
    """`losing` sequences of a claim are learned from, too."""
    splits, encoder = CLAIM_SETS[name].splits, Encoder.load()
    of_train, of_test = (open_side(name, kind, split, encoder, arguments) for split in (splits[0], splits[-1]))
    collection = of_train.collection
    environment = _environment(kind, collection)
    folder = arguments.explored / f"{name}-{splits[0]}-{kind}"
    most = arguments.sequences
    episodes = read_episodes(folder, of_train.tokens, environment, steps=STEPS, most=most, losing=losing)
    explored = list(dict.fromkeys(episodes.claims.tolist()))
    groups = _groups(name, arguments.data)
    out = list(held_out({claim: groups.get(claim, claim) for claim in of_train.tokens}, share=HELD_OUT, seed=0))
    kept = [claim for claim in explored if claim not in set(out)][: arguments.claims]
    asked = [claim for claim in out if claim in set(scored_claims(collection))][: arguments.held_out]
    logger.info("%s %s: %d claims to learn from, %d held out", name, kind, len(kept), len(asked))
    learned, stopped_by = episodes.of(kept), episodes.of(asked)
    return Task(name, kind, environment, of_train, of_test, learned, stopped_by, tuple(asked[::2]), tuple(asked[1::2]))


def open_side(name: str, kind: EndpointKind, split: str, encoder: Encoder, arguments: argparse.Namespace) -> Side:
    collection = load_claims(arguments.data, name, split)
    claims = scored_claims(collection)
    score = open_score(name, kind, collection, encoder, arguments.cache)
    tokens = dict(zip(claims, tag([collection.claims[claim] for claim in claims]), strict=True))
    return Side(collection, score, tokens)


def _environment(kind: EndpointKind, collection: ClaimCollection) -> Environment[Any]:
    if kind is not EndpointKind.BOOLEAN:
        return TextEnvironment(TextEdits())
    index = BooleanIndex()
    index.add(list(collection.posts), list(collection.posts.values()))
    return BooleanEnvironment(BooleanEdits(index))


def _groups(name: str, data: Path) -> dict[str, str]:
    """Claim → its page; a claim of discovery is an article of its own."""
    if name == "fever":
        rows = data_files.read_jsonl(data / "fever" / "fever_shared_dev_with_evidence_text.jsonl.gz")
        return {str(row["id"]): row["evidence_pages"][0] for row in rows if row["evidence_pages"]}
    if name == "fm2":
        rows = data_files.read_jsonl(data / "fool_me_twice" / "dev.jsonl.gz")
        return {row["id"]: row["wikipedia_page"] for row in rows}
    return {}


Rewrite = Callable[[Side, Iterable[str], Course], dict[str, Query]]


def rewritten(
    policy: DecisionPolicy, task: Task, side: Side, claims: Iterable[str], course: Course
) -> dict[str, Query]:
    chosen = list(claims)
    states = rollout(policy, task.environment, [side.tokens[claim] for claim in chosen], course)
    return {claim: query_of(state, task.kind) for claim, state in zip(chosen, states, strict=True)}


def _with_feedback(
    policy: DecisionPolicy, task: Task, side: Side, claims: Iterable[str], target: float
) -> dict[str, Query]:
    """The paper's protocol, which takes the answer: stop where the claim's score is perfect."""
    chosen = list(claims)

    def worths(numbers: Sequence[int], states: Sequence[State]) -> list[float]:
        asked = [chosen[number] for number in numbers]
        pairs = zip(asked, states, strict=True)
        found = side.worths({claim: [query_of(state, task.kind)] for claim, state in pairs})
        return [found[claim] for claim in asked]

    states = rollout(policy, task.environment, [side.tokens[claim] for claim in chosen], Course(target), worths)
    return {claim: query_of(state, task.kind) for claim, state in zip(chosen, states, strict=True)}


def query_of(state: State, kind: EndpointKind) -> Query:
    return state.query(policy="dt") if isinstance(state, BooleanState) else state.query(kind, policy="dt")


def choose_courses(task: Task, rewrite: Rewrite) -> tuple[tuple[Course, ...], list[dict[str, Any]]]:
    """The best course, or on a boolean platform the best three together, added one by one; and all that were tried."""
    tried = {
        course: rewrite(task.train, task.choosing, course)
        for course in (Course(target, bias) for target in _TARGETS for bias in _STOP_BIASES)
    }
    grid = [
        {**_readable(course), "worth": round(task.train.mean(together([queries])), 4)}
        for course, queries in tried.items()
    ]
    chosen: list[Course] = []
    for _ in range(QUERIES if task.kind is EndpointKind.BOOLEAN else 1):
        others = [course for course in tried if course not in chosen]
        chosen.append(max(others, key=lambda c: task.train.mean(together([tried[each] for each in (*chosen, c)]))))
    return tuple(chosen), grid


def _readable(course: Course) -> dict[str, Any]:
    return {name: value if value > float("-inf") else "never" for name, value in asdict(course).items()}


def together(several: Sequence[Mapping[str, Query]]) -> dict[str, list[Query]]:
    """Each claim's queries, equal ones once; none that asks for nothing."""
    found: dict[str, list[Query]] = {}
    for claim in several[0]:
        distinct = {query.groups: query for queries in several if (query := queries[claim]).groups}
        found[claim] = list(distinct.values())
    return found


def trained(task: Task, settings: Settings, frozen: StateEncoder, folder: Path) -> DecisionPolicy:
    """With the settings on the task's claims; what the folder holds of them already is not trained again."""
    settings = replace(settings, size=replace(settings.size, kinds=task.environment.kinds))
    own = None if settings.size.encoder == "tuned" else frozen
    if not (folder / CARD).exists():
        trained_on = {"claims_of": f"{task.name} {CLAIM_SETS[task.name].splits[0]}", "endpoint": task.kind.value}
        return train(settings, task.learned, task.stopped_by, folder, encoder=own, card=trained_on)
    policy = DecisionPolicy.load(folder, own)
    if (story := card_of(folder))["settings"]["seed"] != settings.seed or story["episodes"] != len(task.learned):
        raise SystemExit(f"{folder} holds a policy that was trained otherwise: give another --out")
    return policy


def card_of(folder: Path) -> dict[str, Any]:
    card: dict[str, Any] = json.loads((folder / CARD).read_text("utf-8"))
    return card


def measure(
    task: Task, row: str, settings: Settings, frozen: StateEncoder, folder: Path, *, writes: bool, with_always: bool
) -> dict[str, Any]:
    """Train, choose, write the test side's queries; the figures of the held-out claims and of the test side."""
    began = time.perf_counter()
    policy = trained(task, settings, frozen, folder)
    rewrite: Rewrite = partial(rewritten, policy, task)
    courses, grid = choose_courses(task, rewrite)
    claims = {claim: [query_of(task.environment.start(task.train.tokens[claim]), task.kind)] for claim in task.judging}
    found = together([rewrite(task.train, task.judging, course) for course in courses])
    test = together([rewrite(task.test, task.test.tokens, course) for course in courses])
    if writes:
        write_queries(_path(task, row), written(test))
    always = _always(task, rewrite, grid, _path(task, f"{row}_always") if writes else None) if with_always else {}
    edited = sum(any(query.groups != claims[claim][0].groups for query in found[claim]) for claim in found)
    card = card_of(folder)
    return {
        "start": round(task.train.mean(claims), 4), "rewritten": round(task.train.mean(found), 4),
        "test": round(task.test.mean(test), 4),
        "edited": round(edited / len(found), 3), "courses": [_readable(course) for course in courses], "grid": grid,
        "parameters": card["parameters"], "training_seconds": card["seconds"], "epochs": card["epochs"],
        "claims": card["claims"], "episodes": card["episodes"], "judged_by": len(task.judging),
        "history": card["history"], "size": card["size"], "seconds": round(time.perf_counter() - began, 1), **always,
    }  # fmt: skip


def of_seeds(seeds: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Each seed's figures with the mean and, of several, the standard deviation of what comes out."""
    figures = {name: [each[name] for each in seeds.values() if name in each] for name in _FIGURES}
    means = {name: round(statistics.mean(values), 4) for name, values in figures.items() if values}
    sds = {name: round(statistics.stdev(values), 4) for name, values in figures.items() if len(values) > 1}
    return {"mean": means, "sd": sds, "seeds": dict(seeds)}


def _always(task: Task, rewrite: Rewrite, grid: Sequence[Mapping[str, Any]], path: Path | None) -> dict[str, Any]:
    """The same policy where it makes all its edits, as the paper's does: another row."""
    course = Course(best_target(grid), float("-inf"))
    found = together([rewrite(task.train, task.judging, course)])
    test = together([rewrite(task.test, task.test.tokens, course)])
    if path is not None:
        write_queries(path, written(test))
    return {
        "always_target": course.target, "always": round(task.train.mean(found), 4),
        "always_test": round(task.test.mean(test), 4),
    }  # fmt: skip


def best_target(grid: Sequence[Mapping[str, Any]]) -> float:
    """Of the courses that never stop."""
    best = max((tried for tried in grid if tried["stop_bias"] == "never"), key=lambda tried: tried["worth"])
    return float(best["target"])


def measure_feedback(task: Task, frozen: StateEncoder, folder: Path, target: float) -> dict[str, Any]:
    policy = DecisionPolicy.load(folder, frozen)
    found = together([_with_feedback(policy, task, task.train, task.judging, target)])
    test = together([_with_feedback(policy, task, task.test, task.test.tokens, target)])
    write_queries(_path(task, DT_TOLD), written(test))
    of_judging, of_test = (round(side.mean(queries), 4) for side, queries in ((task.train, found), (task.test, test)))
    return {"target": target, "rewritten": of_judging, "test": of_test, "judged_by": len(task.judging)}


def _path(task: Task, row: str) -> Path:
    return QueryFile(task.name, CLAIM_SETS[task.name].splits[-1], task.kind).path(RESULTS / "queries", row)


def main() -> None:
    arguments = _arguments()
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s")
    for name in (__name__, "models.rewriting.decision_transformer"):
        logging.getLogger(name).setLevel(logging.INFO)
    torch.set_num_threads(1)
    path = RESULTS / "decision_transformer.json"
    rows: dict[str, Any] = json.loads(path.read_text("utf-8"))["rows"] if path.exists() else {}
    for label in arguments.only:
        name, kind = label.split(".")
        task, frozen = open_task(name, EndpointKind(kind), arguments), StateEncoder(TextEncoder())
        for seed, row in product(arguments.seeds, arguments.rows):
            folder = arguments.out / label / row / str(seed)
            seeds = rows.setdefault(label, {}).get(row, {}).get("seeds", {})
            if row == DT_TOLD:
                target = best_target(rows[label][_OF_TOLD]["seeds"][str(seed)]["grid"])
                found = measure_feedback(task, frozen, arguments.out / label / _OF_TOLD / str(seed), target)
            else:
                writes, with_always = seed == arguments.seeds[0], row in arguments.always
                settings = replace(SETTINGS[row], seed=seed)
                found = measure(task, row, settings, frozen, folder, writes=writes, with_always=with_always)
            rows[label][row] = of_seeds(seeds | {str(seed): found})
            shown = {key: value for key, value in found.items() if key not in ("grid", "history", "size")}
            print(label, row, seed, shown, flush=True)
            sources = [arguments.data / file for file in SOURCES]
            write_result("decision_transformer", {"rows": rows} | provenance(sources, arguments.seeds[0]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "explored", "out", "cache"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=["fm2.ranked", "fever.ranked", "discovery.ranked"])
    parser.add_argument("--rows", nargs="+", default=["dt_frozen_pooled_sparse"], choices=[*SETTINGS, DT_TOLD])
    parser.add_argument("--always", nargs="*", default=[], help="rows to have also without stopping")
    parser.add_argument("--claims", type=int, default=3000, help="to learn from, at most")
    parser.add_argument("--held-out", type=int, default=300, help="claims, at most")
    parser.add_argument("--sequences", type=int, default=4, help="of a claim, the best")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    return parser.parse_args()


if __name__ == "__main__":
    main()
