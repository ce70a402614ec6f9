"""JSONL and JSON documents."""

import gzip
import json
from typing import Any

import pytest

from daemon.intake.reader import ReadOptions
from domain.errors import BadInput
from tests.unit.daemon.intake.conftest import Take

Review = dict[str, Any]


def plain(number: int, **more: Any) -> dict[str, Any]:
    return {"url": f"https://fc.example/{number}", "claim": f"Claim {number}", "rating": "False", **more}


def jsonl(*records: Any) -> str:
    return "".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records)


def test_each_line_is_a_record_plain_or_claim_review(take: Take, review: Review) -> None:
    taken = take("a.jsonl", jsonl(plain(1), "", review, plain(2)))
    assert taken.claims == ["Claim 1", "The moon is hollow.", "Claim 2"]


def test_a_bad_line_is_rejected_with_its_number_and_the_rest_goes_on(take: Take) -> None:
    taken = take(
        "a.jsonl",
        jsonl(
            plain(1), "{broken", plain(3, claim=" "), plain(4, url="javascript:alert(1)"), [1, 2], '"text"',
            plain(7, colour="red"), {"@type": "Article"}, "[" * 100_000, plain(10),
        ),
    )  # fmt: skip
    assert taken.claims == ["Claim 1", "Claim 10"]
    assert taken.faults == [(2, ""), (3, "claim"), (4, "url"), (5, ""), (6, ""), (7, "colour"), (8, ""), (9, "")]
    assert taken.rejected[0].record == "{broken"
    assert all(len(r.record) <= 10_000 and r.source == "a.jsonl" for r in taken.rejected)


def test_a_key_unknown_in_the_first_record_refuses_the_file(take: Take) -> None:
    with pytest.raises(BadInput, match="unknown column 'colour'"):
        take("a.jsonl", jsonl("{broken", plain(1, colour="red")))


def test_a_known_key_may_appear_later(take: Take) -> None:
    taken = take(
        "a.jsonl", jsonl(plain(1), plain(2, speaker="Someone"), plain(3, title="Late"), plain(4, colour="red"))
    )
    assert [r.title for r in taken.records] == ["", "", "Late"]
    assert taken.faults == [(4, "colour")]


def test_values_that_are_no_text_are_read_as_text(take: Take) -> None:
    record = plain(1, author={"name": "Writer"}, date=1432598400, body=[["deep"], None], label=True)
    (taken,) = take("a.jsonl", jsonl(record)).records
    assert (taken.author, taken.body, f"{taken.published_at:%Y-%m-%d}") == ("Writer", "", "2015-05-26")


@pytest.mark.parametrize("claim", ["NaN", '["x"]', "5", "true", '{"name": "x"}'])
def test_a_claim_that_is_no_text_is_rejected(take: Take, review: Review, claim: str) -> None:
    taken = take("a.jsonl", f'{{"claim": {claim}}}\n' + jsonl(plain(2)))
    assert (taken.claims, taken.faults) == (["Claim 2"], [(1, "claim")])
    assert "it is no text but" in taken.rejected[0].reason


def test_a_claim_review_without_words_in_it_is_rejected(take: Take, review: Review) -> None:
    assert take("a.json", [review | {"claimReviewed": float("nan")}]).faults == [(1, "claim")]


def test_a_mapped_key_that_no_object_has_is_named(take: Take) -> None:
    options = ReadOptions(columns={"late": "title", "nope": "body"})
    with pytest.raises(BadInput, match=r"a\.jsonl has no column 'nope'"):
        take("a.jsonl", jsonl(plain(1), plain(2, late="Title")), options)


def test_t05_nuls_and_lone_surrogates_are_no_fault_and_what_is_rejected_can_be_stored(take: Take) -> None:
    taken = take(
        "a.jsonl",
        '{"claim": "Wells\\u0000 run dry\\ud800", "title": "raw \0 one"}\0\n\0\n'
        + jsonl({"cl\0\ud800aims": "x\0\ud800"}),
    )
    (record,), (rejected,) = taken.records, taken.rejected
    assert (record.claim, record.title) == ("Wells run dry", "raw one")
    assert "NUL removed" in record.rating_flags
    for text in (rejected.field, rejected.reason, rejected.record, rejected.source):
        assert "\0" not in text.encode().decode()


def test_a_file_of_blank_lines_is_empty(take: Take) -> None:
    with pytest.raises(BadInput, match="is empty"):
        take("a.jsonl", "\n  \n")


def test_claim_reviews_are_found_in_every_container(take: Take, review: Review) -> None:
    other = review | {"url": "https://fc.example/a/43"}
    for document in (
        [review, other],
        {"@context": "https://schema.org", "@graph": [{"@type": "WebPage"}, review, other]},
        {
            "@type": "DataFeed",
            "dataFeedElement": [{"@type": "DataFeedItem", "item": [review]}, {"item": None}, {"item": other}, None],
        },
        [{"@type": "Organization", "name": "Desk"}, {"@type": "NewsArticle", "review": [review, other]}],
        {
            "@type": "ItemList",
            "itemListElement": [{"@type": "ListItem", "item": review}, {"@type": "ListItem", "item": other}],
        },
    ):
        taken = take("a.json", document)
        assert [r.key for r in taken.records] == ["fc.example/a/42", "fc.example/a/43"]
        assert taken.rejected == []


def test_a_plain_list_is_read_like_lines(take: Take) -> None:
    taken = take("a.json", [plain(1), 7, plain(3, colour="red"), plain(4)])
    assert taken.claims == ["Claim 1", "Claim 4"]
    assert taken.faults == [(2, ""), (3, "colour")]
    assert take("a.json", plain(1)).claims == ["Claim 1"]
    assert take("a.json", []).records == []


def test_what_is_no_review_among_reviews_is_rejected_with_its_number(take: Take, review: Review) -> None:
    taken = take("a.json", [review, "text", review | {"claimReviewed": None}])
    assert taken.faults == [(2, ""), (3, "claim")]


def test_a_document_that_does_not_parse_is_refused_with_line_and_column(take: Take) -> None:
    with pytest.raises(BadInput, match=r"a\.json is no JSON \(line 2 column 1: "):
        take("a.json", '{"claim": "x",\n')
    with pytest.raises(BadInput, match="nested too deep"):
        take("a.json", "[" * 100_000)


def test_gzip_is_unpacked_whatever_the_name_says(take: Take) -> None:
    packed = gzip.compress(jsonl(plain(1)).encode())
    assert take("a.jsonl.gz", packed).claims == ["Claim 1"]
    assert take("a.jsonl", packed).claims == ["Claim 1"]
    assert take("a.jsonl.gz", jsonl(plain(1))).claims == ["Claim 1"]


def test_ids_belong_to_the_file_without_its_endings(take: Take) -> None:
    assert take("dump.jsonl.gz", gzip.compress(b'{"id": 7, "claim": "x"}')).records[0].key == "dump:7"


def test_a_given_format_wins_over_the_name(take: Take) -> None:
    assert take("a.txt", jsonl(plain(1)), ReadOptions(format="jsonl")).claims == ["Claim 1"]
    with pytest.raises(BadInput, match="format 'excel'"):
        take("a.jsonl", jsonl(plain(1)), ReadOptions(format="excel"))
