"""Decision transformers for every endpoint: trained, steered on held-out claims, rolled out on the test split once.

    PYTHONPATH=. python bench/decision_transformer.py --data ../shared/data --explored FOLDER --out FOLDER
        --cache FOLDER [--only fm2.ranked] [--rows dt_frozen_pooled_sparse …] [--claims 3000] [--sequences 4]

`--explored` holds the folders that `claimwatch explore` made, named as discovery-train-ranked; `--out` keeps the
trained policies. For each row a query file of the test split is written (models/evaluation/rewriting/query_files.py),
which bench/rewriting.py scores; here stand only figures of the training split: bench/results/decision_transformer.json.

Held out are 15 % of the pages or articles. The first half of their claims ends training and chooses the course (the
return asked for, and how readily it stops); the second half says what it is then worth.
"""

import argparse
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from bench.provenance import RESULTS, provenance, write_result
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
ORACLE, _OF_ORACLE = "dt_oracle_feedback", "dt_frozen_pooled_dense"  # the paper's protocol, of the policy of this row

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


def open_task(name: str, kind: EndpointKind, arguments: argparse.Namespace) -> Task:
    splits, encoder = CLAIM_SETS[name].splits, Encoder.load()
    of_train, of_test = (_side(name, kind, split, encoder, arguments) for split in (splits[0], splits[-1]))
    collection = of_train.collection
    environment = _environment(kind, collection)
    folder = arguments.explored / f"{name}-{splits[0]}-{kind}"
    episodes = read_episodes(folder, of_train.tokens, environment, steps=STEPS, most=arguments.sequences)
    explored = list(dict.fromkeys(episodes.claims.tolist()))
    groups = _groups(name, arguments.data)
    out = list(held_out({claim: groups.get(claim, claim) for claim in of_train.tokens}, share=HELD_OUT, seed=0))
    kept = [claim for claim in explored if claim not in set(out)][: arguments.claims]
    asked = [claim for claim in out if claim in set(scored_claims(collection))][: arguments.held_out]
    logger.info("%s %s: %d claims to learn from, %d held out", name, kind, len(kept), len(asked))
    learned, stopped_by = episodes.of(kept), episodes.of(asked)
    return Task(name, kind, environment, of_train, of_test, learned, stopped_by, tuple(asked[::2]), tuple(asked[1::2]))


def _side(name: str, kind: EndpointKind, split: str, encoder: Encoder, arguments: argparse.Namespace) -> Side:
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


def _rewrite(policy: DecisionPolicy, task: Task, side: Side, claims: Iterable[str], course: Course) -> dict[str, Query]:
    chosen = list(claims)
    states = rollout(policy, task.environment, [side.tokens[claim] for claim in chosen], course)
    return {claim: _query(state, task.kind) for claim, state in zip(chosen, states, strict=True)}


def _with_feedback(
    policy: DecisionPolicy, task: Task, side: Side, claims: Iterable[str], target: float
) -> dict[str, Query]:
    """The paper's protocol, which takes the answer: stop where the claim's score is perfect."""
    chosen = list(claims)

    def worths(numbers: Sequence[int], states: Sequence[State]) -> list[float]:
        asked = [chosen[number] for number in numbers]
        pairs = zip(asked, states, strict=True)
        found = side.worths({claim: [_query(state, task.kind)] for claim, state in pairs})
        return [found[claim] for claim in asked]

    states = rollout(policy, task.environment, [side.tokens[claim] for claim in chosen], Course(target), worths)
    return {claim: _query(state, task.kind) for claim, state in zip(chosen, states, strict=True)}


def _query(state: State, kind: EndpointKind) -> Query:
    return state.query(policy="dt") if isinstance(state, BooleanState) else state.query(kind, policy="dt")


def _courses(task: Task, rewrite: Rewrite) -> tuple[tuple[Course, ...], list[dict[str, Any]]]:
    """The best course, or on a boolean platform the best three together, added one by one; and all that were tried."""
    tried = {
        course: rewrite(task.train, task.choosing, course)
        for course in (Course(target, bias) for target in _TARGETS for bias in _STOP_BIASES)
    }
    grid = [
        {**_readable(course), "worth": round(task.train.mean(_together([queries])), 4)}
        for course, queries in tried.items()
    ]
    chosen: list[Course] = []
    for _ in range(QUERIES if task.kind is EndpointKind.BOOLEAN else 1):
        others = [course for course in tried if course not in chosen]
        chosen.append(max(others, key=lambda c: task.train.mean(_together([tried[each] for each in (*chosen, c)]))))
    return tuple(chosen), grid


def _readable(course: Course) -> dict[str, Any]:
    return {name: value if value > float("-inf") else "never" for name, value in asdict(course).items()}


def _together(several: Sequence[Mapping[str, Query]]) -> dict[str, list[Query]]:
    """Each claim's queries, equal ones once; none that asks for nothing."""
    found: dict[str, list[Query]] = {}
    for claim in several[0]:
        distinct = {query.groups: query for queries in several if (query := queries[claim]).groups}
        found[claim] = list(distinct.values())
    return found


def measure(
    task: Task, row: str, settings: Settings, frozen: StateEncoder, folder: Path, *, with_always: bool
) -> dict[str, Any]:
    """Train, choose, write the test side's queries; the figures of the held-out claims."""
    kinds = task.environment.kinds
    settings = replace(settings, size=replace(settings.size, kinds=kinds))
    began = time.perf_counter()
    own = None if settings.size.encoder == "tuned" else frozen
    trained_on = {"claims_of": f"{task.name} {CLAIM_SETS[task.name].splits[0]}", "endpoint": task.kind.value}
    policy = train(settings, task.learned, task.stopped_by, folder, encoder=own, card=trained_on)
    card = json.loads((folder / "card.json").read_text("utf-8"))
    rewrite: Rewrite = partial(_rewrite, policy, task)
    courses, grid = _courses(task, rewrite)
    claims = {claim: [_query(task.environment.start(task.train.tokens[claim]), task.kind)] for claim in task.judging}
    found = _together([rewrite(task.train, task.judging, course) for course in courses])
    test = _together([rewrite(task.test, task.test.tokens, course) for course in courses])
    write_queries(_path(task, row), written(test))
    always = _always(task, row, rewrite, grid) if with_always else {}
    edited = sum(any(query.groups != claims[claim][0].groups for query in found[claim]) for claim in found)
    return {
        "start": round(task.train.mean(claims), 4), "rewritten": round(task.train.mean(found), 4),
        "edited": round(edited / len(found), 3), "courses": [_readable(course) for course in courses], "grid": grid,
        "parameters": card["parameters"], "training_seconds": card["seconds"], "epochs": card["epochs"],
        "claims": card["claims"], "episodes": card["episodes"], "judged_by": len(task.judging),
        "history": card["history"], "size": card["size"], "seconds": round(time.perf_counter() - began, 1), **always,
    }  # fmt: skip


def _always(task: Task, row: str, rewrite: Rewrite, grid: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The same policy where it makes all its edits, as the paper's does: another row."""
    course = Course(_best_target(grid), float("-inf"))
    found = _together([rewrite(task.train, task.judging, course)])
    test = _together([rewrite(task.test, task.test.tokens, course)])
    write_queries(_path(task, f"{row}_always"), written(test))
    return {"always": {**_readable(course), "rewritten": round(task.train.mean(found), 4)}}


def _best_target(grid: Sequence[Mapping[str, Any]]) -> float:
    """Of the courses that never stop."""
    best = max((tried for tried in grid if tried["stop_bias"] == "never"), key=lambda tried: tried["worth"])
    return float(best["target"])


def measure_feedback(task: Task, frozen: StateEncoder, folder: Path, target: float) -> dict[str, Any]:
    policy = DecisionPolicy.load(folder, frozen)
    found = _together([_with_feedback(policy, task, task.train, task.judging, target)])
    test = _together([_with_feedback(policy, task, task.test, task.test.tokens, target)])
    write_queries(_path(task, ORACLE), written(test))
    return {"target": target, "rewritten": round(task.train.mean(found), 4), "judged_by": len(task.judging)}


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
        for row in arguments.rows:
            folder = arguments.out / label / row
            if row == ORACLE:
                target = _best_target(rows[label][_OF_ORACLE]["grid"])
                found = measure_feedback(task, frozen, arguments.out / label / _OF_ORACLE, target)
            else:
                settings = replace(SETTINGS[row], seed=arguments.seed)
                found = measure(task, row, settings, frozen, folder, with_always=row in arguments.always)
            rows.setdefault(label, {})[row] = found
            shown = {key: value for key, value in found.items() if key not in ("grid", "history", "size")}
            print(label, row, shown, flush=True)
            write_result("decision_transformer", {"rows": rows} | provenance([], arguments.seed))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("data", "explored", "out", "cache"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=["fm2.ranked", "fever.ranked", "discovery.ranked"])
    parser.add_argument("--rows", nargs="+", default=["dt_frozen_pooled_sparse"], choices=[*SETTINGS, ORACLE])
    parser.add_argument("--always", nargs="*", default=[], help="rows to have also without stopping")
    parser.add_argument("--claims", type=int, default=3000, help="to learn from, at most")
    parser.add_argument("--held-out", type=int, default=300, help="claims, at most")
    parser.add_argument("--sequences", type=int, default=4, help="of a claim, the best")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
