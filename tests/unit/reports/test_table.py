import csv
import io
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.match import Stance
from domain.post import Reach
from reports.table import COLUMNS, MatchRow, original_text, safe_text, write_table

CALCULATING = [
    '=HYPERLINK("http://e.example","x")',
    "+1 555",
    "@user",
    "-3 dogs",
    "\t=1+1",
    "\r=1",
    "＝1+1",
    " =1",
    "\ufeff=1",
    "'=1",
]


def row(claim: str) -> MatchRow:
    made = datetime(2026, 11, 26, 14, 2, tzinfo=UTC)
    return MatchRow(
        claim, "https://fc.example/a", None, "Bluesky", "at://1", made, Stance.UNJUDGED, 0.93456, "a sentence",
        "tap AND water", Reach(likes=3, views=0),
    )  # fmt: skip


@pytest.mark.parametrize("text", CALCULATING, ids=ascii)
def test_a_text_that_would_calculate_is_made_inert_and_can_be_restored(text: str) -> None:
    content = write_table([row(text)]).decode("utf-8-sig")
    (cells,) = csv.DictReader(io.StringIO(content, newline=""))
    assert f'"{cells["claim"]}"'.startswith("\"'")
    assert original_text(cells["claim"]) == text


@pytest.mark.parametrize("text", ["plain", "a=b", "1-2", "don't", "'quoted'", "", "e-mail me @ home"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert safe_text(text) == text == original_text(text)


@given(st.text())
def test_any_text_is_restored(text: str) -> None:
    assert original_text(safe_text(text)) == text


def test_the_table_is_utf8_with_a_byte_order_mark_and_one_line_a_match() -> None:
    content = write_table([row("غسل 🌊"), row("two\nlines")])
    assert content.startswith(b"\xef\xbb\xbf")
    first, second = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    assert tuple(first) == COLUMNS
    assert (first["claim"], second["claim"]) == ("غسل 🌊", "two\nlines")
    assert (first["created_at"], first["stance"], first["post_url"]) == ("2026-11-26T14:02:00Z", "unjudged", "")


def test_numbers_stay_numbers_and_unknown_ones_are_empty() -> None:
    content = write_table([row("c")]).decode("utf-8-sig")
    assert content.splitlines()[1].endswith('"unjudged",0.9346,"a sentence","tap AND water",3,"","",0')


def test_no_matches_make_a_table_with_a_header_only() -> None:
    assert write_table([]).decode("utf-8-sig").splitlines() == [",".join(f'"{name}"' for name in COLUMNS)]
