"""A whole exploration over data written here: with the real tagger and engines, cut off, taken up again, refused."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from domain.errors import BadInput
from domain.query import EndpointKind
from models.rewriting.exploration import manifest, records, run
from models.rewriting.exploration.breadth_first import Limits
from models.rewriting.exploration.run import Plan
from models.rewriting.exploration.statistics import statistics

HOSTILE = ["the of and", "🚰🔥", "", "word " * 500, "Die Erde ist eine Scheibe", "\x00", "لقاح كورونا خطير"]
SUBJECTS = ["vaccine", "chip", "water", "fluoride", "tower", "onion", "sock", "harbour"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """FoolMeTwice with 60 claims, each with its sentence among others that share words with it, and hostile ones."""
    rows = [claim(number) for number in range(60)]
    rows += [claim(100 + number, text) for number, text in enumerate(HOSTILE)]
    write(tmp_path / "fool_me_twice", rows)
    return tmp_path


def claim(number: int, text: str | None = None) -> dict[str, Any]:
    """The river of a claim leads away from its evidence, which is of the lake."""
    subject = SUBJECTS[number % 8]
    gold = f"Officials said that lake{number} stays open"
    noise = [f"river{number} meets river{number} near the {subject} in {year}" for year in (1990, 2000, 2010)]
    return {
        "id": f"c{number}", "gold_evidence": [{"text": gold}], "retrieved_evidence": [{"text": line} for line in noise],
        "text": f"The mayor of river{number} quickly sold lake{number} for a {subject}." if text is None else text,
    }  # fmt: skip


def write(folder: Path, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    for split, part in (("dev", rows), ("test", rows[:1])):
        with gzip.open(folder / f"{split}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in part)


def plan(data: Path, kind: str = "ranked", **changes: Any) -> Plan:
    return Plan(data, "fm2", "dev", EndpointKind(kind), Limits(depth=2), **changes)


def explored(plan: Plan, folder: Path, **how: Any) -> dict[str, bytes]:
    """The files that a run leaves, by name."""
    assert sum(done.claims for done in run.run(plan, folder, **how)) == run.claims(plan)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("kind", ["ranked", "dense", "boolean"])
def test_every_claim_is_explored_also_those_that_nothing_can_be_made_of(data: Path, tmp_path: Path, kind: str) -> None:
    few = len(HOSTILE) + 60 if kind != "dense" else 8
    explored(plan(data, kind, most_claims=few), tmp_path / "out")
    found = statistics(tmp_path / "out")
    assert found.claims == few
    assert found.improved > 0
    assert found.best > found.worth
    assert sum(row.share for row in found.actions) == pytest.approx(1)
    assert all(row.gain > 0 for row in found.actions) or kind == "boolean"
    starts = [visit for visit in records.read(tmp_path / "out", "visits") if visit["depth"] == 0]
    assert all(len(visit["actions"]) == len(visit[f"{name} of actions"]) for visit in starts for name in names(kind))


def names(kind: str) -> tuple[str, ...]:
    return ("f2", "recall", "reads") if kind == "boolean" else ("ap@50", "recall@50", "rr@50", "ndcg@10")


def test_a_run_that_was_cut_off_goes_on_and_ends_as_if_it_had_not_been(data: Path, tmp_path: Path) -> None:
    whole = explored(plan(data), tmp_path / "whole")
    cut = tmp_path / "cut"
    next(run.run(plan(data), cut))  # one part of two
    (cut / "visits-00001.partial").write_bytes(b"half")
    (cut / "visits-00001.parquet").write_bytes(b"written, and what belongs to it is not")
    assert not records.is_written(cut, 1)
    again = explored(plan(data), cut)
    assert again == whole


def test_two_processes_make_the_same_as_one(data: Path, tmp_path: Path) -> None:
    assert explored(plan(data), tmp_path / "two", jobs=2) == explored(plan(data), tmp_path / "one")


def test_a_cluster_makes_the_same_as_one_process(data: Path, tmp_path: Path) -> None:
    from dask.distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
        found = explored(plan(data), tmp_path / "cluster", cluster=cluster.scheduler_address)
    assert found == explored(plan(data), tmp_path / "one")


def test_a_cluster_that_is_not_there_is_named(data: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"the cluster at tcp://127.0.0.1:9 does not answer"):
        list(run.run(plan(data), tmp_path / "out", cluster="tcp://127.0.0.1:9"))
    assert not (tmp_path / "out").exists()


def test_other_data_is_refused_with_both_hashes(data: Path, tmp_path: Path) -> None:
    explored(plan(data), tmp_path / "out")
    held = manifest.read(tmp_path / "out")["data_sha256"]
    write(data / "fool_me_twice", [claim(number) for number in range(3)])
    run.opened.cache_clear()
    with pytest.raises(BadInput, match=r"other data") as refused:
        list(run.run(plan(data), tmp_path / "out"))
    assert held in str(refused.value)
    assert manifest.read(tmp_path / "out")["data_sha256"] == held


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 1}, "another seed (0, not 1)"),
        ({"analyser": "english"}, "another index"),
        ({"most_claims": 5}, "claims"),
    ],
)
def test_another_plan_is_refused(data: Path, tmp_path: Path, change: dict[str, Any], words: str) -> None:
    explored(plan(data), tmp_path / "out")
    with pytest.raises(BadInput) as refused:
        list(run.run(plan(data, **change), tmp_path / "out"))
    assert words in str(refused.value)


def test_a_folder_of_something_else_is_left_alone(data: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").write_text("dear")
    with pytest.raises(BadInput, match="is not empty"):
        list(run.run(plan(data), tmp_path / "out"))
    with pytest.raises(BadInput, match="claimwatch explore"):
        statistics(tmp_path / "out")


def test_a_part_that_is_damaged_is_named(data: Path, tmp_path: Path) -> None:
    explored(plan(data), tmp_path / "out")
    (tmp_path / "out" / "visits-00001.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(BadInput, match=r"visits-00001\.parquet cannot be read"):
        statistics(tmp_path / "out")


@pytest.mark.parametrize("table", ["visits", "subsets", "sequences"])
def test_a_file_that_was_deleted_is_made_again(data: Path, tmp_path: Path, table: str) -> None:
    whole = explored(plan(data, "boolean"), tmp_path / "out")
    (tmp_path / "out" / f"{table}-00001.parquet").unlink()
    assert statistics(tmp_path / "out").missing == (0 if table == "subsets" else len(HOSTILE) + 10)
    assert explored(plan(data, "boolean"), tmp_path / "out") == whole


def test_a_column_that_is_not_there_is_said_in_a_line(data: Path, tmp_path: Path) -> None:
    explored(plan(data), tmp_path / "out")
    (tmp_path / "out" / "sequences-00000.parquet").replace(tmp_path / "out" / "visits-00000.parquet")
    (tmp_path / "out" / "visits-00001.parquet").replace(tmp_path / "out" / "sequences-00000.parquet")
    with pytest.raises(BadInput, match=r"sequences-00000\.parquet cannot be read") as refused:
        list(records.read(tmp_path / "out", "sequences", ["sequence"]))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("written", ["[]", "{}", '{"metrics": []}'])
def test_a_manifest_of_something_else_is_named(data: Path, tmp_path: Path, written: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").write_text(written)
    with pytest.raises(BadInput, match=r"manifest\.json is none of an exploration"):
        statistics(tmp_path / "out")
    with pytest.raises(BadInput, match=r"manifest\.json is none of an exploration"):
        list(run.run(plan(data), tmp_path / "out"))


@pytest.mark.parametrize("out", ["letter", "letter/out"])
def test_a_folder_that_cannot_be_made_is_named(data: Path, tmp_path: Path, out: str) -> None:
    (tmp_path / "letter").write_text("dear")
    with pytest.raises(BadInput, match=r"letter.* cannot be written to \(Not a directory\)|letter.*File exists"):
        list(run.run(plan(data), tmp_path / out))


def test_claims_without_gold_texts_are_refused(data: Path, tmp_path: Path) -> None:
    write(data / "fool_me_twice", [claim(0) | {"gold_evidence": []}])
    run.opened.cache_clear()
    with pytest.raises(BadInput, match="no claim with gold texts"):
        list(run.run(plan(data), tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "split", "words"), [("nofever", "dev", "nofever"), ("fm2", "train", "dev, test")])
def test_a_set_or_split_that_there_is_not_is_named_with_those_there_are(
    data: Path, tmp_path: Path, name: str, split: str, words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        list(run.run(Plan(data, name, split, EndpointKind.RANKED), tmp_path / "out"))


def test_the_boolean_ways_lead_to_the_best_subsets(data: Path, tmp_path: Path) -> None:
    explored(plan(data, "boolean", most_claims=20), tmp_path / "out")
    best = {row["claim"]: max(row["f2"], default=0.0) for row in records.read(tmp_path / "out", "subsets")}
    reached: dict[str, float] = {}
    for visit in records.read(tmp_path / "out", "visits", ["claim", "f2"]):
        reached[visit["claim"]] = max(reached.get(visit["claim"], 0.0), visit["f2"])
    assert best
    assert all(reached[claim] >= worth - 1e-6 for claim, worth in best.items())
