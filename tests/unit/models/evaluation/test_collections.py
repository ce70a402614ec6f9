import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from domain.errors import BadInput
from models.evaluation.collections import load_checkthat, load_discovery

RECORD = {
    "vclaim_id": "vclaim-1",
    "vclaim": "A lake turned green.",
    "title": "Green Lake?",
    "subtitle": "It did not.",
    "author": "",
    "date": "6 March 2021",
}


def write_checkthat(folder: Path, *, queries: str = "t1\tThe lake is green\n") -> None:
    with gzip.open(folder / "vclaims.jsonl.gz", "wt") as file:
        file.write(json.dumps(RECORD) + "\n" + json.dumps({**RECORD, "vclaim_id": "vclaim-2", "date": ""}) + "\n")
    (folder / "dev.queries.tsv").write_text(queries)


def test_checkthat_gives_posts_judgements_and_fact_checks(tmp_path: Path) -> None:
    write_checkthat(tmp_path)
    (tmp_path / "dev.qrels.tsv").write_text("t1\t0\tvclaim-1\t1\n")
    collection = load_checkthat(tmp_path, "dev")
    assert collection.queries == {"t1": "The lake is green"}
    assert collection.qrels == {"t1": {"vclaim-1"}}
    first, second = collection.fact_checks
    assert (first.key, first.claim, first.title, first.body) == (
        "vclaim-1",
        "A lake turned green.",
        "Green Lake?",
        "It did not.",
    )
    assert (first.published_at, second.published_at) == (datetime(2021, 3, 6, tzinfo=UTC), None)


def test_a_quoted_post_keeps_its_line_break(tmp_path: Path) -> None:
    write_checkthat(tmp_path, queries='t1\t"It is ""green""\nand wet"\n')
    assert load_checkthat(tmp_path, "dev").queries == {"t1": 'It is "green"\nand wet'}


def test_a_blind_split_has_no_judgements(tmp_path: Path) -> None:
    write_checkthat(tmp_path)
    assert load_checkthat(tmp_path, "dev").qrels == {}


def test_a_missing_folder_says_which_setting_to_change(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--data or CLAIMWATCH_DATA") as caught:
        load_checkthat(tmp_path / "nowhere", "dev")
    assert "\n" not in str(caught.value)


def test_a_row_that_is_no_json_is_named(tmp_path: Path) -> None:
    write_checkthat(tmp_path)
    with gzip.open(tmp_path / "vclaims.jsonl.gz", "at") as file:
        file.write("{oops\n")
    with pytest.raises(BadInput, match="row 3"):
        load_checkthat(tmp_path, "dev")


def test_discovery_gives_claims_and_the_posts_to_find(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "posts.jsonl.gz", "wt") as file:
        file.write(json.dumps({"id": "train:7", "text": "green lake"}) + "\n")
    (tmp_path / "dev.claims.tsv").write_text("c1\tA lake turned green.\n")
    (tmp_path / "dev.qrels.tsv").write_text("c1\t0\ttrain:7\t1\n")
    collection = load_discovery(tmp_path, "dev")
    assert collection.claims == {"c1": "A lake turned green."}
    assert collection.qrels == {"c1": {"train:7"}}
    assert collection.posts == {"train:7": "green lake"}
