"""The room that rewriting has: claims as they are against the best query that a search finds with the gold known.

    python bench/oracle.py --data ../shared/data [--claims 300] [--jobs 2]

The first so many claims of each training split, by each kind of endpoint; a boolean platform also with three queries a
claim, chosen greedily among all subsets of up to five of the claim's words.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.provenance import provenance, write_result
from domain.query import EndpointKind
from models.evaluation.claim_sets import CLAIM_SETS
from models.rewriting.exploration import run
from models.rewriting.exploration.breadth_first import Limits
from models.rewriting.exploration.environments import BooleanExplorer
from models.rewriting.exploration.run import AnalyserName, Plan
from models.rewriting.exploration.statistics import statistics, worths
from models.rewriting.tagging import tag

QUERIES = 3  # a claim, on a boolean platform
LIMITS = {
    EndpointKind.RANKED: Limits(left_out=0.0),
    EndpointKind.BOOLEAN: Limits(left_out=0.0),
    EndpointKind.DENSE: Limits(left_out=0.0, states=2),  # an embedding takes as long as a thousand bags of words
}
ROWS: tuple[tuple[str, EndpointKind, AnalyserName], ...] = (
    *((name, kind, "standard") for name in CLAIM_SETS for kind in LIMITS),
    ("discovery", EndpointKind.RANKED, "english"),
)


def room(plan: Plan, jobs: int) -> dict[str, Any]:
    """What the claims are worth, the best that was found of them, and how far their gains lie apart."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in run.run(plan, Path(folder), jobs=jobs):
            pass
        found = statistics(Path(folder))
        starts, best = worths(Path(folder), run.opened(plan).explorer.metrics[0])
    gain_sd = round(float(np.std([best[claim] - starts[claim] for claim in starts])), 4)
    row = {"claims": found.claims, "claim": round(found.worth, 4), "best": round(found.best, 4)}
    return row | {"improved": found.improved, "perfect": found.perfect, "gain_sd": gain_sd}


def several_queries(plan: Plan) -> dict[str, float]:
    """F2 of the claim sent whole, of its rarest two words, of the best subset, and of the best three together."""
    opened = run.opened(plan)
    explorer, collection = opened.explorer, opened.collection
    assert isinstance(explorer, BooleanExplorer)
    sums = dict.fromkeys(("whole claim", "best subset", f"best {QUERIES} subsets"), 0.0)
    texts = [collection.claims[claim] for claim in opened.claims]
    for claim, tokens in zip(opened.claims, tag(texts), strict=True):
        gold = collection.qrels[claim]
        pool = explorer.subsets(tokens, gold)
        sums["whole claim"] += explorer.worth([[word] for word in collection.claims[claim].split()], gold)
        sums["best subset"] += max((f2 for _, f2 in pool.best(1)), default=0.0)
        sums[f"best {QUERIES} subsets"] += pool.choose(QUERIES)[1]
    return {name: round(value / len(texts), 4) for name, value in sums.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--claims", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cache", type=Path, default=None, help="folder for the texts' embeddings")
    arguments = parser.parse_args()
    rows: dict[str, Any] = {}
    for name, kind, analyser in ROWS:
        split = CLAIM_SETS[name].splits[0]
        plan = Plan(
            arguments.data, name, split, kind, LIMITS[kind], analyser=analyser, most_claims=arguments.claims,
            cache=arguments.cache,
        )  # fmt: skip
        label = f"{name} {kind}" + (" english" if analyser == "english" else "")
        rows[label] = room(plan, arguments.jobs)
        if kind is EndpointKind.BOOLEAN:
            rows[label] |= several_queries(plan)
        print(label, rows[label], flush=True)
    files = sorted((arguments.data / name / file) for name, file in _FILES)
    limits = {kind.value: {"depth": limit.depth, "states": limit.states} for kind, limit in LIMITS.items()}
    print(write_result("oracle", {"rows": rows, "limits": limits, **provenance(files, 0)}))


_FILES = (
    ("fever", "fever_shared_dev_with_evidence_text.jsonl.gz"),
    ("fool_me_twice", "dev.jsonl.gz"),
    ("discovery", "posts.jsonl.gz"),
    ("discovery", "train.claims.tsv"),
    ("discovery", "train.qrels.tsv"),
)


if __name__ == "__main__":
    main()
