"""explore as people run it: it finds better queries, goes on where it was cut off, and refuses what it cannot use."""

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import Claimwatch
from tests.unit.models.rewriting.exploration.test_run import claim, write


def test_a_claim_set_is_explored_taken_up_again_and_told_of(claimwatch: Claimwatch, tmp_path: Path) -> None:
    write(tmp_path / "fool_me_twice", [claim(number) for number in range(60)])
    arguments = ["explore", "out", "--data", str(tmp_path), "--claims", "fm2/dev", "--depth", "2", "--jobs", "1"]
    answer = claimwatch(*arguments)
    assert answer.code == 0, answer.err
    assert answer.out.startswith("60 claims, 0 perfect as they are, ")
    assert "remove" in answer.out
    last = tmp_path / "out" / "sequences-00001.parquet"
    last.unlink()
    again = json.loads(claimwatch(*arguments, "--json").out)
    assert last.exists()
    assert again["best"] > again["worth"]
    assert json.loads(claimwatch("explore", "out", "--stats", "--json").out) == again
    refused = claimwatch(*arguments, "--seed", "7")
    assert refused.code == 2
    assert refused.complaint == "claimwatch: out was made with another seed (0, not 7): give another folder"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["out"], "--data, or set CLAIMWATCH_DATA"),
        (["out", "--data", "nowhere"], "--data nowhere: there is no such folder"),
        (["out", "--data", ".", "--claims", "fever"], "fever has no split ''"),
        (
            ["out", "--data", ".", "--claims", "fever/paper_dev"],
            "is not there: give the folder that holds it with --data",
        ),
        (["out", "--stats"], "out holds no manifest.json"),
    ],
)
def test_what_cannot_be_explored_is_said_in_a_line(claimwatch: Claimwatch, arguments: list[str], words: str) -> None:
    answer = claimwatch("explore", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert len(answer.complaint.splitlines()) == 1
    assert words in answer.complaint
