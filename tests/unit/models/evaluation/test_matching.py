import gzip
import json
from pathlib import Path

import pytest

from models.backbone import Encoder
from models.evaluation.matching import Row, evaluate_matching
from models.evaluation.metrics import average_precision, mean, per_query
from models.evaluation.qrels import read_qrels
from models.evaluation.runs import read_run
from models.registry import RANKERS

CLAIMS = [
    "Lindmouth banned fluoride.",
    "Kestrel Bridge closes.",
    "Onions in socks cure the flu.",
    "Cats are taxed.",
]
POSTS = ["fluoride banned in lindmouth", "no more crossing at kestrel", "put onions in your socks", "a levy on felines"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tmp_path = tmp_path_factory.mktemp("data")
    with gzip.open(tmp_path / "vclaims.jsonl.gz", "wt") as file:
        for number, claim in enumerate(CLAIMS):
            record = {"vclaim_id": f"v{number}", "vclaim": claim, "title": "", "subtitle": "", "date": ""}
            file.write(json.dumps(record) + "\n")
    for split in ("dev", "test"):
        rows = "".join(f"t{number}\t{post}\n" for number, post in enumerate(POSTS))
        (tmp_path / f"{split}.queries.tsv").write_text(rows)
    (tmp_path / "dev.qrels.tsv").write_text("".join(f"t{number}\t0\tv{number}\t1\n" for number in range(len(POSTS))))
    return tmp_path


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder.load()


@pytest.fixture(scope="module")
def rows(data: Path, encoder: Encoder) -> list[Row]:
    """Of the dev posts; their run files lie in `runs`."""
    return evaluate_matching(data, "dev", data / "runs", encoder=encoder, cache=data / "cache")


def test_every_ranker_has_a_row_and_a_run_file_that_gives_its_figures(data: Path, rows: list[Row]) -> None:
    assert [row.name for row in rows] == list(RANKERS)
    for row in rows:
        run = read_run(data / "runs" / f"checkthat2022.dev.{row.name}.trec")
        again = mean(per_query(run, read_qrels(data / "dev.qrels.tsv"), average_precision(5)))
        assert row.map5.mean == pytest.approx(again)
        assert row.map5.low <= row.map5.mean <= row.map5.high


def test_run_files_hold_ids_only(data: Path, rows: list[Row]) -> None:
    files = list((data / "runs").iterdir())
    assert len(files) == len(rows)
    for file in files:
        for line in file.read_text().splitlines():
            query, q0, document, _, _, name = line.split()
            assert query[0] == "t" and q0 == "Q0" and document[0] == "v" and name in RANKERS


def test_meaning_finds_what_words_do_not(rows: list[Row]) -> None:
    of = {row.name: row for row in rows}
    assert of["bm25"].map1.mean < of["fusion"].map1.mean == 1.0
    assert of["bm25"].gain.mean == 0.0 < of["fusion"].gain.mean


def test_a_split_without_labels_gets_its_run_files_and_no_figures(data: Path, encoder: Encoder) -> None:
    assert evaluate_matching(data, "test", data / "unlabelled", encoder=encoder) == []
    assert len(list((data / "unlabelled").iterdir())) == len(RANKERS)
