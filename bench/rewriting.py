"""Every row of rewritten queries, scored from its file alone, beside the plain rows.

    PYTHONPATH=. python bench/rewriting.py --data ../shared/data --cache FOLDER [--sets SET …] [--splits dev|test]
        [--rows settings|plain] [--kinds ranked …]

A row is a file bench/results/queries/DATA.SPLIT.ENDPOINT.ROW.jsonl, whoever wrote it (models/evaluation/rewriting/
query_files.py says how). `--rows settings` chooses the settings of the plain rows on the first 1,000 claims of the dev
split and keeps them in bench/results/rewriting_settings.json; `--rows plain` writes these rows' files with them.

Writes bench/results/rewriting.json, or rewriting_dev.json for the dev splits. `ci95_gain` is of mAP@50 over the claim;
on the boolean platform of F2 over the best heuristic row, and `ci95_gain_no_counts` over the best that knows no counts.
`dt` is again the row of that decision transformer which was best on held-out claims (bench/decision_transformer.py).
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.plain_queries import BOOLEAN_HEURISTICS, KNOW_COUNTS, SEED, Row, boolean_rows, chosen_settings, text_rows
from bench.provenance import RESULTS, provenance, write_result
from domain.query import EndpointKind
from models.backbone import Encoder
from models.evaluation.claim_sets import CLAIM_SETS, load_claims
from models.evaluation.collections import ClaimCollection
from models.evaluation.rewriting.endpoints import ENDPOINTS, Score, open_score
from models.evaluation.rewriting.query_files import QueryFile, read_queries, write_queries, written
from models.evaluation.rewriting.scores import Scores, best, scored_claims
from models.rewriting.plain import Encode
from models.rewriting.rewards.dense import RecentVectors

QUERIES = RESULTS / "queries"
SPLITS = {
    "dev": {"fever": "paper_dev", "fm2": "dev", "discovery": "dev"},
    "test": {"fever": "paper_test", "fm2": "test", "discovery": "test2021"},
}
NAMES = {"ap@50": "map50", "recall@50": "recall50", "rr@50": "rr50", "ndcg@10": "ndcg10"}
DT_TOLD = "dt_oracle_feedback"  # the paper's protocol: a row that takes the answer
LATENCY = "rewriting_latency"
LATENCY_OF = "discovery boolean policy"  # the policy that asks the most of a claim
RESULTS_OF = {"settings": "rewriting_settings", "dev": "rewriting_dev", "test": "rewriting"}
FILES = (
    "fever/fever_shared_dev_with_evidence_text.jsonl.gz", "fever/corpus_evidence_passages.jsonl.gz",
    "fool_me_twice/dev.jsonl.gz", "fool_me_twice/test.jsonl.gz", "covid_fact/COVIDFACT_dataset.jsonl.gz",
    "feverous_s/dev.json.gz", "discovery/posts.jsonl.gz", "discovery/dev.claims.tsv", "discovery/dev.qrels.tsv",
    "discovery/test2021.claims.tsv", "discovery/test2021.qrels.tsv",
)  # fmt: skip


def main() -> None:
    arguments = read_arguments()
    encoder = Encoder.load()
    encode = RecentVectors(encoder.encode)  # key phrases are the same before either kind of endpoint
    results = RESULTS_OF["settings" if arguments.rows == "settings" else arguments.splits]
    files = [arguments.data / name for name in FILES]
    for name in arguments.sets:
        split = SPLITS["dev" if arguments.rows == "settings" else arguments.splits][name]
        collection = load_claims(arguments.data, name, split)
        of_set: dict[str, Any] = kept(results).get(name, {}) | {"claims": len(scored_claims(collection))}
        for kind in (each for each in ENDPOINTS[name] if each in arguments.kinds):
            score = open_score(name, kind, collection, encoder, arguments.cache)
            rows = plain_rows(name, kind, collection, encode) if arguments.rows else {}
            if arguments.rows == "settings":
                of_set[kind.value] = chosen_settings(rows, score, scored_claims(collection))
                print(name, kind, of_set[kind.value], flush=True)
            else:
                file = QueryFile(name, split, kind)
                write_rows(rows, file, scored_claims(collection))
                lines = table(score_rows(file, score), kind)
                of_set[kind.value] = lines | decision_transformer(name, kind, lines) | oracle(name, kind)
                print_table(f"{name} {split} {kind}", of_set[kind.value])
        latency = kept(LATENCY).get("milliseconds_a_claim", {}).get(LATENCY_OF, {})
        write_result(results, kept(results) | {name: of_set, "latency_ms": latency} | provenance(files, SEED))


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rows", choices=("settings", "plain"), help="what to do before all rows are scored")
    parser.add_argument("--splits", choices=tuple(SPLITS), default="test")
    parser.add_argument("--sets", nargs="+", choices=tuple(ENDPOINTS), default=tuple(ENDPOINTS))
    kinds = [kind.value for kind in EndpointKind]
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds, help="of endpoints; the others stay")
    parser.add_argument("--cache", type=Path, required=True, help="folder for embeddings between runs")
    return parser.parse_args()


def kept(results: str) -> dict[str, Any]:
    """What an earlier run wrote, since sets and kinds of endpoints may be done one by one."""
    path = RESULTS / f"{results}.json"
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return found


def plain_rows(name: str, kind: EndpointKind, collection: ClaimCollection, encode: Encode) -> dict[str, Row]:
    if kind is EndpointKind.BOOLEAN:
        return boolean_rows(collection, encode)
    return text_rows(name, kind, collection, encode)


def write_rows(rows: Mapping[str, Row], file: QueryFile, claims: Sequence[str]) -> None:
    settings = kept(RESULTS_OF["settings"])[file.data][file.kind.value] if rows else {}
    for name, row in rows.items():
        setting = settings[name]["setting"] if name in settings else None
        write_queries(file.path(QUERIES, name), written({claim: row.make(claim, setting) for claim in claims}))


def score_rows(file: QueryFile, score: Score) -> dict[str, Scores]:
    found = {row: score(read_queries(file.path(QUERIES, row))) for row in file.rows(QUERIES)}
    if "claim" not in found:
        raise SystemExit(f"there are no plain rows of {file.data} {file.split} {file.kind}: write them: --rows plain")
    return found


def table(scores: Mapping[str, Scores], kind: EndpointKind) -> dict[str, dict[str, Any]]:
    if kind is not EndpointKind.BOOLEAN:
        return with_gains(scores, {"ci95_gain": "claim"})
    heuristics = {row: scores[row] for row in scores if row in BOOLEAN_HEURISTICS}
    without_counts = {row: scores[row] for row in heuristics if row not in KNOW_COUNTS}
    return with_gains(scores, {"ci95_gain": best(heuristics), "ci95_gain_no_counts": best(without_counts)})


def with_gains(scores: Mapping[str, Scores], over: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Each row's means, and the interval of its gain over each of the rows compared with."""
    lines: dict[str, dict[str, Any]] = {}
    for row, of in scores.items():
        lines[row] = {NAMES.get(metric, metric): round(of.mean(metric), 4) for metric in of.metrics}
        for label, other in over.items():
            if other != row:
                gain = of.gain_over(scores[other], seed=SEED)
                lines[row] |= {label: [round(gain.low, 4), round(gain.high, 4)]}
    return lines


def oracle(name: str, kind: EndpointKind) -> dict[str, Any]:
    """The best that a search with the gold known finds, four edits deep. Of the boolean platform there are files."""
    if kind is EndpointKind.BOOLEAN:
        return {}
    label = f"{name} {kind}" + (" english" if name == "discovery" else "")
    row = json.loads((RESULTS / "oracle.json").read_text("utf-8"))["rows"][label]
    whose = f"the first {row['claims']} claims of {CLAIM_SETS[name].splits[0]}, where the claim has {row['claim']}"
    return {"oracle": {"map50": row["best"], "source": f"oracle.json, {whose}"}}


def decision_transformer(name: str, kind: EndpointKind, lines: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The one to quote; that which is told the answer is none."""
    rows = kept("decision_transformer").get("rows", {}).get(f"{name}.{kind}", {})
    worths = {row: rows[row]["mean"]["rewritten"] for row in rows if row.startswith("dt_") and row in lines}
    worths.pop(DT_TOLD, None)
    if not worths:
        return {}
    chosen = max(worths, key=worths.__getitem__)
    return {"dt": lines[chosen] | {"row": chosen}}


def print_table(title: str, lines: Mapping[str, Mapping[str, Any]]) -> None:
    print(title)
    for row, line in sorted(lines.items(), key=lambda item: -next(iter(item[1].values()))):
        figures = "  ".join(f"{name} {_readable(value)}" for name, value in line.items())
        print(f"  {row:<33}{figures}", flush=True)


def _readable(value: Any) -> str:
    if isinstance(value, list):
        return f"[{value[0]:+.3f}, {value[1]:+.3f}]"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
