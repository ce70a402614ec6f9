"""`claimwatch import` as people meet it: good files, bad files, and files with bad records."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.acceptance.conftest import Claimwatch

GOOD = {"url": "https://fc.example/a/1", "claim": "Tap water glows at night.", "rating": "False", "language": "en"}


def write(path: Path, *lines: str | Mapping[str, object]) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def records(*numbers: int) -> list[Mapping[str, object]]:
    return [
        GOOD | {"url": f"https://fc.example/a/{n}", "claim": f"Tap water glows at night in town {n}."} for n in numbers
    ]


def status(claimwatch: Claimwatch) -> dict[str, int]:
    answer = claimwatch("status", "--json")
    assert answer.code == 0, answer.err
    loaded: dict[str, int] = json.loads(answer.out)
    return loaded


def test_of_a_file_with_five_faults_five_records_are_kept_aside_and_the_rest_goes_in(
    claimwatch: Claimwatch, tmp_path: Path
) -> None:
    before = status(claimwatch)
    file = write(
        tmp_path / "five.jsonl", *records(101, 102), "{broken", *records(103),
        GOOD | {"url": "https://fc.example/a/104", "claim": "  "}, GOOD | {"url": "javascript:alert(1)"},
        "[1, 2]", GOOD | {"url": "https://fc.example/a/105", "colour": "red"}, *records(106),
    )  # fmt: skip
    answer = claimwatch("import", str(file), "--json")
    assert answer.code == 2
    (result,) = json.loads(answer.out)
    assert (result["added"], result["quarantined"]) == (4, 5)
    after = status(claimwatch)
    assert after["fact-checks"] - before["fact-checks"] == 4
    assert after["in quarantine"] - before["in quarantine"] == 5
    for row in (3, 5, 6, 7, 8):
        assert f"five.jsonl row {row}" in answer.complaint


def test_the_same_file_twice_changes_nothing_the_second_time(claimwatch: Claimwatch, tmp_path: Path) -> None:
    file = write(tmp_path / "good.jsonl", *records(201, 202, 203))
    first, second = claimwatch("import", str(file), "--json"), claimwatch("import", str(file), "--json")
    assert [first.code, second.code] == [0, 0]
    assert json.loads(first.out)[0]["added"] == 3
    assert json.loads(second.out)[0] | {"file": ""} == {
        "file": "", "added": 0, "changed": 0, "unchanged": 3, "quarantined": 0, "faults": [], "unknown_ratings": {},
        "unusable": "",
    }  # fmt: skip


def test_t25_one_article_at_many_addresses_is_one_fact_check_with_two_versions(
    claimwatch: Claimwatch, tmp_path: Path
) -> None:
    before = status(claimwatch)
    claim: Mapping[str, object] = {"claim": "The moon is hollow.", "title": "No, it is not hollow", "rating": "False"}
    urls = [
        "http://www.fc.example/a/42/?utm_source=x", "https://fc.example/a/42", "https://fc.example/a/42#top",
        "https://fc.example/amp/a/42", "https://fc2.example/n.php?id=79489", "https://fc2.example/n.php?id=79336",
    ]  # fmt: skip
    file = write(tmp_path / "t25.jsonl", *[{**claim, "url": url} for url in urls])
    assert claimwatch("import", str(file)).code == 0
    corrected = write(tmp_path / "t25b.jsonl", {**claim, "url": urls[0], "title": "The moon is solid"})
    assert json.loads(claimwatch("import", str(corrected), "--json").out)[0]["changed"] == 1
    after = status(claimwatch)
    assert after["fact-checks"] - before["fact-checks"] == 3
    assert after["watches active"] - before["watches active"] == 3


def test_t05_a_nul_in_a_record_is_taken_out_and_the_record_stays(claimwatch: Claimwatch, tmp_path: Path) -> None:
    file = tmp_path / "nul.jsonl"
    file.write_text('{"url": "https://fc.example/nul", "claim": "Wells\\u0000 run dry at noon", "rating": "False"}\n')
    assert claimwatch("import", str(file)).code == 0
    answer = claimwatch("match", "wells run dry at noon, people say", "--json")
    assert json.loads(answer.out)["matches"][0]["fact_check_key"] == "fc.example/nul"
    assert claimwatch("rewrite", "wells\0run dry".replace("\0", " ")).code == 0


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("empty.jsonl", b"", "empty.jsonl"),
        ("latin.csv", "url,claim\nhttps://fc.example/x,caf\u00e9\n".encode("latin-1"), "--encoding"),
        ("unknown.csv", b"url,claim,colour\nhttps://fc.example/x,y,red\n", "colour"),
        ("broken.json", b'{"claimReviewed": "x",\n', "broken.json"),
        ("cut.jsonl.gz", gzip.compress(b'{"claim": "x"}\n' * 500, mtime=0)[:-20], "cut.jsonl.gz"),
    ],
)
def test_an_unusable_file_gives_one_clear_line_and_stores_nothing(
    claimwatch: Claimwatch, tmp_path: Path, name: str, content: bytes, complaint: str
) -> None:
    before = status(claimwatch)
    (tmp_path / name).write_bytes(content)
    answer = claimwatch("import", str(tmp_path / name))
    assert answer.code == 2
    assert len(answer.complaint.splitlines()) == 1
    assert complaint in answer.complaint
    assert status(claimwatch) == before


def test_a_line_of_200_megabytes_is_refused_with_its_number(claimwatch: Claimwatch, tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    with file.open("wb") as out:
        out.write(json.dumps(GOOD).encode() + b"\n" + b'{"claim": "')
        for _ in range(200):
            out.write(b"a" * 1_000_000)
        out.write(b'"}\n')
    answer = claimwatch("import", str(file))
    assert answer.code == 2
    assert len(answer.complaint.splitlines()) == 1
    assert "line 2" in answer.complaint or "row 2" in answer.complaint


def test_an_unusable_file_keeps_no_other_one_out(claimwatch: Claimwatch, tmp_path: Path) -> None:
    before = status(claimwatch)
    file = write(tmp_path / "beside.jsonl", *records(301, 302))
    answer = claimwatch("import", str(file), "nope.csv")
    assert answer.code == 2
    assert "beside.jsonl" in answer.out
    assert "2 prepared" in answer.out
    assert "nope.csv" in answer.complaint
    assert status(claimwatch)["watches active"] - before["watches active"] == 2
    listed = json.loads(claimwatch("import", str(file), "nope.csv", "--json").out)
    assert [(result["unchanged"], bool(result["unusable"])) for result in listed] == [(2, False), (0, True)]


def test_ten_faults_are_named_and_how_many_more_there_are(claimwatch: Claimwatch, tmp_path: Path) -> None:
    file = write(tmp_path / "many.jsonl", *["{broken"] * 13)
    answer = claimwatch("import", str(file))
    assert len(answer.complaint.splitlines()) == 11
    assert "many.jsonl: and 3 more: `claimwatch import --json` names all" in answer.complaint
    assert len(json.loads(claimwatch("import", str(file), "--json").out)[0]["faults"]) == 13


def test_what_was_kept_aside_is_listed_the_newest_first(claimwatch: Claimwatch, tmp_path: Path) -> None:
    write(tmp_path / "aside.jsonl", *records(501), "{broken", GOOD | {"url": "javascript:alert(1)"})
    assert claimwatch("import", "aside.jsonl").code == 2
    newest, earlier = json.loads(claimwatch("quarantine", "list", "--json", "--limit", "2").out)
    assert (newest["source"], newest["row"], newest["field"]) == ("aside.jsonl", 3, "url")
    assert "javascript:alert(1)" in newest["record"]
    assert (earlier["row"], earlier["record"]) == (2, "{broken")
    shown = claimwatch("quarantine", "list", "--limit", "1").out
    assert newest["reason"] in shown
    assert earlier["reason"] not in shown
    assert claimwatch("quarantine", "list", "--limit", "0").code == 2


def test_ratings_that_we_do_not_know_are_named_and_are_no_fault(claimwatch: Claimwatch, tmp_path: Path) -> None:
    one, other, third = records(401, 402, 403)
    file = write(
        tmp_path / "ratings.jsonl", {**one, "rating": "Totally bonkers"}, {**other, "rating": "1/0"},
        {**third, "rating": "Unproven"},
    )  # fmt: skip
    answer = claimwatch("import", str(file))
    assert answer.code == 0
    assert answer.complaint == "2 have a rating we do not know: 'Totally bonkers', '1/0'"


@pytest.mark.parametrize(("name", "content"), [("head.csv", "url,claim\n"), ("none.json", "[]")])
def test_a_file_without_a_record_is_named(claimwatch: Claimwatch, tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    answer = claimwatch("import", name)
    assert (answer.code, answer.complaint) == (0, f"{name}: holds no record")


def test_a_missing_file_is_named(claimwatch: Claimwatch) -> None:
    answer = claimwatch("import", "nowhere.csv")
    assert answer.code == 2
    assert "nowhere.csv" in answer.complaint
