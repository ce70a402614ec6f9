"""The learned policies trained again with other seeds: does what they gain depend on the seed?

    PYTHONPATH=. python bench/policy_seeds.py --data ../shared/data --out FOLDER --cache FOLDER [--seeds 1 2]
        [--only fm2.ranked fm2.dense …]

`--out` keeps the trained policies, which are not trained again; seed 0 is the packaged one, whose figures stand in
rewriting.json. Every seed's queries for the test split are scored as by bench/rewriting.py. Writes
bench/results/policy_seeds.json: each seed's figures, and their mean and standard deviation.
"""

import argparse
import statistics
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from bench.provenance import provenance, write_result
from bench.rewriting import kept
from domain.query import EndpointKind
from models.backbone import Encoder
from models.evaluation.claim_sets import CLAIM_SETS, load_claims
from models.evaluation.collections import ClaimCollection
from models.evaluation.rewriting.endpoints import ENDPOINTS, open_score
from models.evaluation.rewriting.learned_rows import TEXTS, Make, boolean_rows, learned_rows, weighing_rows
from models.evaluation.rewriting.query_files import written
from models.evaluation.rewriting.scores import scored_claims
from models.rewriting.learned import train_retention, train_term_weights
from models.rewriting.learned.retention import Retention
from models.rewriting.learned.term_weights import TermWeights

ENDS = tuple(f"{name}.{kind}" for name, kinds in ENDPOINTS.items() for kind in kinds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="folder of the trained policies")
    parser.add_argument("--cache", type=Path, required=True, help="folder for embeddings between runs")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", choices=ENDS, default=ENDS)
    arguments = parser.parse_args()
    for end in arguments.only:
        name, kind = end.split(".")
        found = measure(name, EndpointKind(kind), arguments)
        write_result("policy_seeds", kept("policy_seeds") | provenance([], None) | {end: found})
        print(end, found["mean"], flush=True)


def measure(name: str, kind: EndpointKind, arguments: argparse.Namespace) -> dict[str, Any]:
    collection = load_claims(arguments.data, name, CLAIM_SETS[name].splits[-1])
    score = open_score(name, kind, collection, Encoder.load(), arguments.cache)
    figures: dict[str, list[float]] = {}
    for seed in (0, *arguments.seeds):
        rows = trained_rows(name, kind, collection, seed, arguments) if seed else learned_rows(name, kind, collection)
        for row, make in rows.items():
            scores = score(written({claim: make(claim) for claim in scored_claims(collection)}))
            figures.setdefault(row, []).append(round(scores.mean(scores.metrics[0]), 4))
    means = {row: [round(f(of), 4) for f in (statistics.mean, statistics.stdev)] for row, of in figures.items()}
    return {"seeds": [0, *arguments.seeds], "figures": figures, "mean": means}


def trained_rows(
    name: str, kind: EndpointKind, collection: ClaimCollection, seed: int, arguments: argparse.Namespace
) -> Mapping[str, Make]:  # fmt: skip
    say = partial(print, flush=True)
    if kind is EndpointKind.BOOLEAN:
        folder = arguments.out / f"boolean_{seed}"
        if not folder.is_dir():
            train_retention.train(arguments.data, folder, seed=seed, say=say)
        return boolean_rows(collection, Retention.load(folder))
    texts = TEXTS[name]
    folder = arguments.out / f"{kind}_{texts}_{seed}"
    if not folder.is_dir():
        train_term_weights.train(arguments.data, kind, texts, folder, cache=arguments.cache, seed=seed, say=say)
    return weighing_rows(collection, kind, TermWeights.load(kind, texts, folder))


if __name__ == "__main__":
    main()
