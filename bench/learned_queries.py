"""Writes the query files of the learned policies: rows `policy`, and `policy_counts` where a platform counts.

    PYTHONPATH=. python bench/learned_queries.py --data ../shared/data [--splits dev|test] [--sets SET …]

See models/evaluation/rewriting/learned_rows.py. `bench/rewriting.py` scores the files. How long a claim takes goes to
bench/results/rewriting_latency.json.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.provenance import provenance, write_result
from bench.rewriting import LATENCY, QUERIES, SPLITS, kept
from domain.query import Query
from models.evaluation.claim_sets import load_claims
from models.evaluation.rewriting.endpoints import ENDPOINTS
from models.evaluation.rewriting.learned_rows import Make, learned_rows
from models.evaluation.rewriting.query_files import QueryFile, write_queries, written
from models.evaluation.rewriting.scores import scored_claims


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", choices=tuple(SPLITS), default="test")
    parser.add_argument("--sets", nargs="+", choices=tuple(ENDPOINTS), default=tuple(ENDPOINTS))
    arguments = parser.parse_args()
    took: dict[str, dict[str, float]] = kept(LATENCY).get("milliseconds_a_claim", {})
    for name in arguments.sets:
        split = SPLITS[arguments.splits][name]
        collection = load_claims(arguments.data, name, split)
        for kind in ENDPOINTS[name]:
            for row, make in learned_rows(name, kind, collection).items():
                made, seconds = timed(make, scored_claims(collection))
                write_queries(QueryFile(name, split, kind).path(QUERIES, row), written(made))
                took[f"{name} {kind} {row}"] = latency = {
                    f"p{share}": round(1000 * float(np.percentile(seconds, share)), 1) for share in (50, 95)
                }
                print(name, split, kind, row, latency, flush=True)
    write_result(LATENCY, provenance([], None) | {"milliseconds_a_claim": took})


def timed(make: Make, claims: Sequence[str]) -> tuple[dict[str, Sequence[Query]], list[float]]:
    """Each claim's queries, and how long they took: models are loaded, a claim is seen for the first time."""
    made, seconds = {}, []
    make(claims[0])
    for claim in (*claims[1:], claims[0]):
        start = time.perf_counter()
        made[claim] = make(claim)
        seconds.append(time.perf_counter() - start)
    return {claim: made[claim] for claim in claims}, seconds


if __name__ == "__main__":
    main()
