"""A collection in the form of CheckThat!, written by the tests."""

import gzip
import json
from pathlib import Path


def write_collection(folder: Path) -> None:
    towns = ["Lindmouth", "Eskerby", "Tarrowby", "Pellwick", "Varnholm", "Ambersley"]
    deeds = ["banned fluoride", "closed the bridge", "sold plastic rice", "taxed all cats", "shot the starlings"]
    claims = [f"{town} {deed}." for town in towns for deed in deeds] * 2
    with gzip.open(folder / "vclaims.jsonl.gz", "wt") as file:
        for number, claim in enumerate(claims):
            record = {"vclaim_id": f"v{number}", "vclaim": claim, "title": "", "subtitle": "", "date": ""}
            file.write(json.dumps(record) + "\n")
    for split, start in (("train", 0), ("dev", 20)):
        posts = [(f"t{n}", f"so they {claims[n].lower()[:-1]} now", f"v{n}") for n in range(start, start + 8)]
        (folder / f"{split}.queries.tsv").write_text("".join(f"{id_}\t{text}\n" for id_, text, _ in posts))
        (folder / f"{split}.qrels.tsv").write_text("".join(f"{id_}\t0\t{key}\t1\n" for id_, _, key in posts))
