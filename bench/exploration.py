"""The explorations that rewriting is trained on, made from nothing, with the paper's statistics beside ours.

    python bench/exploration.py --data ../shared/data --out FOLDER [--jobs 2]

FEVER's paper_dev before BM25 and discovery's training claims before all three kinds of endpoint, four edits deep. The
folder keeps the data; what it holds already is taken up, so that only a run into an empty one says how long it takes.
"""

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.provenance import provenance, write_result
from domain.query import EndpointKind
from models.evaluation.claim_sets import CLAIM_SETS
from models.rewriting.exploration import run
from models.rewriting.exploration.breadth_first import Limits
from models.rewriting.exploration.run import Plan
from models.rewriting.exploration.statistics import statistics

EXPLORED = (
    ("fever", EndpointKind.RANKED, Limits()),
    ("discovery", EndpointKind.RANKED, Limits()),
    ("discovery", EndpointKind.BOOLEAN, Limits()),
    ("discovery", EndpointKind.DENSE, Limits(states=4)),
)
# Table 2 of the paper: 45,658 claims of FEVER, its own corpus, BM25; shares of the steps and gains of AP@50.
PAPER = {"remove": (0.766, 0.116), "swap": (0.137, 0.124), "add synonym": (0.064, 0.128), "present": (0.033, 0.123)}
FILES = (
    "fever/fever_shared_dev_with_evidence_text.jsonl.gz", "discovery/posts.jsonl.gz", "discovery/train.claims.tsv",
    "discovery/train.qrels.tsv",
)  # fmt: skip


def explored(plan: Plan, folder: Path, jobs: int) -> dict[str, Any]:
    began, evaluations, at_hand = time.perf_counter(), 0, 0
    for done in run.run(plan, folder, jobs=jobs):
        evaluations += done.evaluations
        at_hand += done.claims if not done.evaluations else 0
    seconds = time.perf_counter() - began
    found = asdict(statistics(folder))
    return found | {"seconds": round(seconds, 1), "evaluations": evaluations, "claims_at_hand_before": at_hand}


def print_table(label: str, row: dict[str, Any]) -> None:
    print(f"{label}: {row['claims']} claims, {row['worth']:.3f} → {row['best']:.3f}, {row['seconds']:.0f} s")
    for action in row["actions"]:
        share, gain = PAPER.get(action["action"], (None, None))
        beside = f"   paper {share:.1%} {gain:+.3f}" if share is not None and label == "fever ranked" else ""
        print(f"  {action['action']:<12}{action['share']:>7.1%} {action['gain']:+.3f}{beside}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    rows = {}
    for name, kind, limits in EXPLORED:
        split, label = CLAIM_SETS[name].splits[0], f"{name} {kind}"
        plan = Plan(arguments.data, name, split, kind, limits, cache=arguments.out / "cache")
        rows[label] = explored(plan, arguments.out / f"{name}-{split}-{kind}", arguments.jobs)
        print_table(label, rows[label])
    paper = {action: {"share": share, "gain": gain} for action, (share, gain) in PAPER.items()}
    together = {"jobs": arguments.jobs, "seconds_together": round(sum(row["seconds"] for row in rows.values()), 1)}
    sources = [arguments.data / file for file in FILES]
    print(write_result("exploration", {"rows": rows, "paper": paper} | together | provenance(sources, 0)))


if __name__ == "__main__":
    main()
