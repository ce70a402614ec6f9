"""How well posts are matched: each ranker's MAP@1, MAP@5 and MRR beside the published ones, confidence and speed.

    python bench/matching.py --data ../shared/data [--cache FOLDER]

The ranking figures come from the run files that `claimwatch eval matching` writes: anyone can recompute them from the
ids. Confidence is measured with posts as they are and the same posts with their fact-check taken out, half and half.
Speed is that of the product's matcher with its sentences, over 14,231 fact-checks: first with no title embedded yet,
then once more on the same posts. Edited posts are those of test2021 whose claims were reworded (claim_edits), the
harder edits, each file beside the same posts unedited. Writes bench/results/matching.json.

Settings were chosen on train, out of fold, and dev; test2021 was scored once.
"""

import argparse
import csv
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from bench.provenance import RESULTS, provenance, write_result
from models.backbone import Encoder
from models.evaluation.collections import PostCollection, load_checkthat
from models.evaluation.matching import make_runs, measure
from models.evaluation.metrics import average_precision, mean, per_query
from models.evaluation.runs import Run, read_run
from models.evaluation.vectors import cached_vectors
from models.ranking import train_calibration
from models.ranking.bm25 import FieldSettings
from models.ranking.calibration import Calibration
from models.ranking.fact_check_text import embedding_text
from models.ranking.matcher import Matcher, PostText
from models.ranking.outcomes import measure as measure_confidence
from models.ranking.outcomes import outcomes
from models.registry import RANKERS

SPLITS = ("dev", "test2021")
# MAP@1, MAP@5 as published; None where a paper gives none. Those with † use no dates.
PUBLISHED: Mapping[str, Mapping[str, tuple[float | None, float]]] = {
    "test2021": {
        "RIET †": (0.939, 0.960),
        "aschern, winner of 2021 †": (0.861, 0.883),
        "Sentence-T5 †": (0.812, 0.862),
        "BM25 prepared †": (0.801, 0.855),
    },
    "dev": {"BM25, all fields †": (None, 0.918)},
}
EDITS = "claim_edits"
EDITED_ROWS = ("bm25", "fusion", "blend")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds checkthat2022 and claim_edits")
    parser.add_argument("--cache", type=Path, help="folder for embeddings between runs")
    parser.add_argument("--edits", action="store_true", help="also rank the edited posts, some minutes")
    arguments = parser.parse_args()
    folder = arguments.data / "checkthat2022"
    posts = {split: load_checkthat(folder, split) for split in SPLITS}
    encoder = Encoder.load()
    results: dict[str, Any] = {}
    for split, collection in posts.items():
        rows = ranking_rows(split, collection)
        key = "checkthat2021_test" if split == "test2021" else f"checkthat2022_{split}"
        results[key] = rows
        print_rows(split, rows)
    results["calibration"] = confidence(posts["dev"], encoder, arguments.cache)
    results["calibration_test2021"] = confidence(posts["test2021"], encoder, arguments.cache)
    print(f"confidence  dev {results['calibration']}  test2021 {results['calibration_test2021']}")
    results |= speed(posts["dev"], encoder, arguments.cache)
    print(f"posts/s {results['posts_per_s']} at first, {results['posts_per_s_again']} again")
    if arguments.edits:
        results["claim_edits"] = edited(arguments.data / EDITS, posts["test2021"], encoder, arguments.cache)
    files = [folder / "vclaims.jsonl.gz", *(folder / f"{split}.qrels.tsv" for split in SPLITS)]
    write_result("matching", provenance(files, seed=0) | results)


def ranking_rows(split: str, posts: PostCollection) -> dict[str, Any]:
    runs: dict[str, Run] = {name: read_run(RESULTS / "runs" / f"checkthat2022.{split}.{name}.trec") for name in RANKERS}
    rows = {}
    for row in measure(runs, posts, seed=0):
        intervals = {metric: asdict(getattr(row, metric)) for metric in ("map1", "map5", "mrr", "gain")}
        rows[row.name] = {"map1": round(row.map1.mean, 4), "map5": round(row.map5.mean, 4), "intervals": intervals}
    return rows


def print_rows(split: str, rows: Mapping[str, Any]) -> None:
    for name, row in rows.items():
        low1, high1 = (row["intervals"]["map1"][end] for end in ("low", "high"))
        low5, high5 = (row["intervals"]["map5"][end] for end in ("low", "high"))
        print(
            f"{split:<9}{name:<28}MAP@1 {row['map1']:.3f} [{low1:.3f}, {high1:.3f}]"
            f"  MAP@5 {row['map5']:.3f} [{low5:.3f}, {high5:.3f}]"
        )
    for name, (map1, map5) in PUBLISHED[split].items():
        print(f"{split:<9}{name:<28}MAP@1 {map1 if map1 else '–':<21} MAP@5 {map5}")


def confidence(posts: PostCollection, encoder: Encoder, cache: Path | None) -> dict[str, float]:
    embedded = train_calibration.embed(posts, encoder, cache)
    examples = train_calibration.build_examples(embedded, FieldSettings.load(), seed=0, lexical=False)
    found = measure_confidence(outcomes(Calibration.load(), examples.large, lexical=False))
    return {"ece": found["calibration_error"], "brier": found["brier"], "none_auroc": found["auroc"]}


def speed(posts: PostCollection, encoder: Encoder, cache: Path | None) -> dict[str, Any]:
    facts = posts.fact_checks
    vectors = cached_vectors([embedding_text(f.claim, f.title) for f in facts], encoder, cache)
    matcher = Matcher(facts, vectors, encoder, Calibration.load())
    texts = [PostText(text) for text in posts.queries.values()]
    matcher.match([PostText("a post before the clock starts, so that all code is compiled and read")])
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        matcher.match(texts)
        seconds.append(time.perf_counter() - start)
    first, again = (round(len(texts) / taken, 1) for taken in seconds)
    return {"posts_per_s": first, "posts_per_s_again": again, "threads": torch.get_num_threads()}


def edited(folder: Path, posts: PostCollection, encoder: Encoder, cache: Path | None) -> dict[str, Any]:
    """MAP@5 of the posts of each edited file, and of the same posts unedited."""
    found = {}
    for path in sorted(folder.glob("*__edited_worstcase*.tsv")):
        original = path.with_name(path.name.replace("__edited_", "__orig_"))
        if original.exists():
            after, before = (edited_rows(file, posts, encoder, cache) for file in (path, original))
            found[path.stem] = {name: {"edited": after[name], "original": before[name]} for name in after}
            changes = (f"{name} {row['original']}→{row['edited']}" for name, row in found[path.stem].items())
            print(f"{path.stem:<75}" + "  ".join(changes))
    return found


def edited_rows(path: Path, posts: PostCollection, encoder: Encoder, cache: Path | None) -> dict[str, float]:
    delimiter = "\t" if path.read_text("utf-8").startswith("query_id\t") else ","
    with path.open(encoding="utf-8", newline="") as file:
        queries = {row[0]: row[1] for row in list(csv.reader(file, delimiter=delimiter))[1:]}
    qrels = {query: posts.qrels[query] for query in queries if query in posts.qrels}
    asked = PostCollection({query: queries[query] for query in qrels}, qrels, posts.fact_checks)
    runs = make_runs(asked, encoder, cache, names=EDITED_ROWS)
    return {name: round(mean(per_query(run, qrels, average_precision(5))), 4) for name, run in runs.items()}


if __name__ == "__main__":
    main()
