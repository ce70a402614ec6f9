"""report, outbox and subscription as people run them: what is refused, what is written, what is said of nothing."""

import json
from email import message_from_bytes
from pathlib import Path

import pytest

from tests.acceptance.conftest import Answer, Claimwatch


def refused(answer: Answer, *words: str) -> None:
    """Exit code 2 and one line that holds the words."""
    assert (answer.code, answer.out) == (2, ""), answer
    assert len(answer.complaint.splitlines()) == 1, answer.err
    for word in words:
        assert word in answer.complaint


@pytest.fixture(scope="module")
def names() -> set[str]:
    return set()


@pytest.fixture
def desk(claimwatch: Claimwatch, names: set[str]) -> str:
    if "desk" not in names:
        assert claimwatch("subscription", "add", "desk", "--to", "a@desk.example").code == 0
        names.add("desk")
    return "desk"


def test_nothing_is_said_in_a_sentence(claimwatch: Claimwatch) -> None:
    assert claimwatch("outbox", "list").out == "The outbox is empty: no digest has been mailed yet.\n"
    assert json.loads(claimwatch("outbox", "list", "--json").out) == []
    refused(claimwatch("report"), "no digest was made yet", "claimwatch report --preview")


@pytest.mark.parametrize("address", ["localhost", "a@@b.org", "a;b@b.org", "<a@b.org", "ä@bücher.de"])
def test_what_is_no_address_is_refused_when_it_is_given(claimwatch: Claimwatch, address: str) -> None:
    refused(claimwatch("subscription", "add", "x", "--to", address), repr(address))


@pytest.mark.parametrize(
    ("name", "option", "value", "words"),
    [
        ("x", "--language", "klingon", "--language klingon"),
        ("x", "--publisher", " ", "--publisher"),
        (" ", "--at", "08:00", "subscription name"),
        ("x" * 201, "--at", "08:00", "subscription name"),
    ],
)
def test_what_could_never_match_is_refused(
    claimwatch: Claimwatch, name: str, option: str, value: str, words: str
) -> None:
    refused(claimwatch("subscription", "add", name, "--to", "a@b.example", option, value), words)


def test_a_name_is_the_same_however_its_spaces_are_written(claimwatch: Claimwatch) -> None:
    added = claimwatch(
        "subscription", "add", " night\n desk", "--to", "a@b.example", "--to", " a@b.example", "--at", "07:05"
    )
    assert added.code == 0, added.err
    assert "subscription night desk added" in added.out
    assert claimwatch("subscription", "pause", "night  desk ").code == 0
    (listed,) = [s for s in json.loads(claimwatch("subscription", "list", "--json").out) if s["name"] == "night desk"]
    assert (listed["state"], listed["local_time"], listed["recipients"]) == ("paused", "07:05", ["a@b.example"])
    assert "07:05:00" not in claimwatch("subscription", "list").out


def test_an_unknown_subscription_is_named(claimwatch: Claimwatch) -> None:
    refused(claimwatch("report", "--subscription", "nope", "--date", "2026-11-27"), "'nope'")
    refused(claimwatch("report", "--subscription", "nope", "--preview"), "'nope'")


@pytest.mark.parametrize("command", [("report", "--preview"), ("subscription", "preview", "desk")])
def test_where_nothing_can_be_written_one_line_says_so(
    claimwatch: Claimwatch, tmp_path: Path, desk: str, command: tuple[str, ...]
) -> None:
    (tmp_path / "folder.html").mkdir()
    refused(claimwatch(*command, "--out", "/nonexistent/x.html"), "/nonexistent/x.html")
    refused(claimwatch(*command, "--out", "folder.html"), "folder.html")
    refused(claimwatch(*command, "--out", "x.pdf"), ".eml", ".html", ".txt")
    assert [file.name for file in tmp_path.iterdir()] == ["folder.html"]


def test_the_ending_of_a_file_says_what_is_written_into_it(claimwatch: Claimwatch, tmp_path: Path, desk: str) -> None:
    for ending in ("eml", "html", "txt"):
        assert claimwatch("report", "--preview", "--out", f"x.{ending}").code == 0
    mail = message_from_bytes((tmp_path / "x.eml").read_bytes())
    assert mail["From"] == "claimwatch@localhost"
    assert mail.get_content_type() == "multipart/alternative"
    assert (tmp_path / "x.html").read_text().startswith("<!DOCTYPE html>")
    assert "desk, " in (tmp_path / "x.txt").read_text().splitlines()[0]


def test_a_machine_gets_the_counts_and_the_path(claimwatch: Claimwatch, desk: str) -> None:
    facts = json.loads(claimwatch("report", "--preview", "--subscription", desk, "--json", "--out", "x.eml").out)
    assert (facts["subscription"], facts["claims"], facts["posts"], facts["path"]) == ("desk", 0, 0, "x.eml")
    assert "message" not in facts


def test_a_limit_is_a_positive_number(claimwatch: Claimwatch) -> None:
    answer = claimwatch("outbox", "list", "--limit", "-1")
    assert answer.code == 2
    assert "--limit" in answer.err
