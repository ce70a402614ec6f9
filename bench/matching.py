"""MAP@1, MAP@5 and MRR of each ranker's run files, which `claimwatch eval matching` writes.

    python bench/matching.py --data ../shared/data/checkthat2022

Writes bench/results/matching.json. Needs no model: anyone can recompute the table from the ids.
"""

import argparse
from dataclasses import asdict
from pathlib import Path

from bench.provenance import RESULTS, provenance, write_result
from models.evaluation.collections import load_checkthat
from models.evaluation.matching import measure
from models.evaluation.runs import Run, read_run
from models.registry import RANKERS

SPLITS = ("dev", "test2021")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    tables: dict[str, object] = {}
    for split in SPLITS:
        runs: dict[str, Run] = {
            name: read_run(RESULTS / "runs" / f"checkthat2022.{split}.{name}.trec") for name in RANKERS
        }
        rows = measure(runs, load_checkthat(data, split), seed=0)
        tables[f"checkthat2022_{split}"] = {row.name: asdict(row) for row in rows}
        for row in rows:
            print(f"{split:<9}{row.name:<8}MAP@1 {row.map1}  MAP@5 {row.map5}  MRR {row.mrr}  over bm25 {row.gain}")
    files = [data / "vclaims.jsonl.gz", *(data / f"{split}.qrels.tsv" for split in SPLITS)]
    write_result("matching", provenance(files, seed=0) | tables)


if __name__ == "__main__":
    main()
