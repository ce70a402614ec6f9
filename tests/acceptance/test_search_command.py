"""search as people run it: what could not be searched is told once, and never passes for "no posts"."""

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import Claimwatch
from tests.acceptance.test_cases import CLAIM

GOOD = {"id": "1", "text": CLAIM, "created_at": "2026-11-27T10:00:00Z"}


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("nope.jsonl", None, "nope.jsonl: cannot be read"),
        ("empty.jsonl", "", "empty.jsonl: holds no usable post"),
        ("posts.txt", "tap water", "posts.txt: posts are read from .jsonl or .csv"),
        ("torn.csv", 'id,text\n"1', "torn.csv: holds no usable post"),
    ],
)
def test_a_file_of_posts_that_cannot_be_used_is_one_line(
    claimwatch: Claimwatch, tmp_path: Path, name: str, content: str | None, complaint: str
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    answer = claimwatch("search", CLAIM, "--posts", name)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"claimwatch: {complaint}")
    assert len(answer.err.splitlines()) == 1


def test_a_record_of_the_file_that_was_left_out_is_named(claimwatch: Claimwatch, tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_text(f"{json.dumps(GOOD)}\n[1]\n")
    answer = claimwatch("search", CLAIM, "--posts", "posts.jsonl", "--json", "--days", "3650")
    assert answer.code == 0
    assert [row["id"] for row in json.loads(answer.out)] == ["1"]
    assert answer.complaint == "file: posts.jsonl row 2: left out, it is no JSON object"


def test_a_connector_that_could_not_be_searched_is_told_once_with_exit_code_2(claimwatch: Claimwatch) -> None:
    given = json.dumps({"feed": {"type": "x"}})
    answer = claimwatch("search", CLAIM, "--json", CLAIMWATCH_CONNECTORS=given)
    assert (answer.code, json.loads(answer.out)) == (2, [])
    assert answer.complaint == "feed: unavailable: connectors.feed.options.bearer_token is missing: give it"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["🙂🙂"], "holds no word to search for"),
        (["( ) ... --"], "holds no word to search for"),
        ([CLAIM, "--days", "9" * 11], "--days"),
        ([CLAIM, "--language", "klingon"], "--language klingon: give a code"),
        ([CLAIM, "--posts", "posts.jsonl", "--kind", "foggy"], "--kind foggy: choose from"),
    ],
)
def test_what_cannot_be_searched_for_is_refused(claimwatch: Claimwatch, arguments: list[str], complaint: str) -> None:
    answer = claimwatch("search", *arguments)
    assert answer.code == 2
    assert complaint in answer.complaint


def test_a_claim_is_rewritten_by_the_learned_policy(claimwatch: Claimwatch) -> None:
    claim = "The city of Lindmouth has banned fluoride in tap water"
    answer = claimwatch("rewrite", claim, "--json", CLAIMWATCH_SEARCH__POLICY="learned")
    queries = json.loads(answer.out)
    assert answer.code == 0
    assert len({query["query"] for query in queries}) == len(queries) > 1
    learned = [query for query in queries if query["policy"].startswith("retention@")]
    assert all(0 < query["predicted"] < 1 and query["edits"] for query in learned)
    assert queries[0] in learned


def test_a_claim_is_taken_to_be_in_the_language_that_is_given(claimwatch: Claimwatch) -> None:
    claim = "Lindmouth banned fluoride"
    answer = claimwatch("rewrite", claim, "--language", "es", "--json", CLAIMWATCH_SEARCH__POLICY="learned")
    queries = json.loads(answer.out)
    assert queries
    assert not [query for query in queries if query["policy"].startswith("retention@")]
