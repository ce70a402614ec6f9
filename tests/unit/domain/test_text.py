"""One normal form for every text that enters."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.text import has_words, normalise, one_line, shorten, tidy


@pytest.mark.parametrize(
    ("given_text", "normal"),
    [
        ("5 &lt; 6 &amp;amp; done", "5 < 6 &amp; done"),
        ("caf&eacute;&#32;&#x263A;", "café ☺"),
        ("https://fc.example/?a=1&section=3&copy=2", "https://fc.example/?a=1&section=3&copy=2"),
        ("R&D; &unheard; AT&T", "R&D; &unheard; AT&T"),
        ("&#0;&#xD800;&#9999999;", "\ufffd" * 3),
    ],
)
def test_entities_are_decoded_once_and_only_whole_ones(given_text: str, normal: str) -> None:
    assert normalise(given_text) == normal


@pytest.mark.parametrize(
    ("given_text", "normal"),
    [
        ("ab\0cd", "abcd"),
        ("e\u0301", "é"),
        ("vac\u00adcine vac\u200bcine \ufeff", "vaccine vaccine"),
        ("\u202eevil\u202c", "evil"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("one\x0ctwo\u2028three\x85four", "one\ntwo\nthree\nfour"),
        ("a\r\nb\rc", "a\nb\nc"),
        (" a \u00a0 b \n\n\n\n  c ", "a b\n\nc"),
    ],
)
def test_what_cannot_be_seen_goes_and_white_space_is_put_in_order(given_text: str, normal: str) -> None:
    assert tidy(given_text) == normal


def test_joiners_of_emoji_and_scripts_stay() -> None:
    family, persian = "👨‍👩‍👧", "می‌خواهم"
    assert tidy(family) == family
    assert tidy(persian) == persian


@given(st.text())
def test_tidying_twice_changes_nothing(text: str) -> None:
    assert tidy(tidy(text)) == tidy(text)
    assert one_line(one_line(text)) == one_line(text)


@given(st.text(st.characters(exclude_characters="&")))
def test_normalising_a_text_without_entities_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text())
def test_a_normal_text_can_be_stored_and_is_composed(text: str) -> None:
    normal = normalise(text)
    assert "\0" not in normal
    assert unicodedata.is_normalized("NFC", normal)
    normal.encode()


@given(st.text(), st.integers(-3, 50))
def test_a_shortened_text_fits(text: str, limit: int) -> None:
    assert len(shorten(text, limit)) <= max(limit, 0)


def test_nothing_is_left_of_a_text_where_nothing_may_be_quoted() -> None:
    assert (shorten("water is banned", 0), shorten("water", -1), shorten("water", 1)) == ("", "", "…")


def test_a_text_of_links_handles_and_signs_has_no_words() -> None:
    assert not any(map(has_words, ["https://fc.example/a/42", "@a @b", "#…", "🚰🚰", "", "  "]))
    assert has_words("#water https://fc.example")
