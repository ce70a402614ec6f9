"""The text in a piece of HTML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.intake.markup import line_of, text_of


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (
            "<p>Water banned</p><p>in Zurich<br />now</p><p><a href='x'>link</a> #w</p>",
            "Water banned\n\nin Zurich\nnow\n\nlink #w",
        ),
        ("<ul><li>one<li>two</ul>after", "one\ntwo\n\nafter"),
        ("x<script>alert(1)</script>y<style>p{}</style> z<!-- c --> d", "xy z d"),
        ("<template><p>hidden</p></template>seen", "seen"),
        ("<p>laid out\nin the source</p>\n\n<p>twice</p>", "laid out in the source\n\ntwice"),
        ("written\n\nby hand, <b>with</b>\nline ends", "written\n\nby hand, with\nline ends"),
        ("<![CDATA[so <b>bold</b>]]>", "so bold"),
        ("<?xml version='1.0' encoding='latin-1'?><p>é</p>", "é"),
        ("<p>caf&eacute; &amp; bar</p>", "café & bar"),
        ("<p>never closed <b>at all", "never closed at all"),
        ("<p></p>", ""),
    ],
)
def test_blocks_become_lines_and_what_is_not_shown_goes(markup: str, text: str) -> None:
    assert text_of(markup) == text


@pytest.mark.parametrize(
    "text", ["a <b and c> d of x < y > z", "mail <desk@fc.example> or <https://fc.example>", "1 <2> 3", "i<p"]
)
def test_signs_of_a_plain_text_are_no_markup(text: str) -> None:
    assert text_of(text) == text


def test_entities_encoded_more_than_once_are_decoded_to_the_end() -> None:
    assert text_of("AT&amp;amp;T") == "AT&T"
    assert text_of("&lt;p&gt;caf&amp;eacute;&lt;/p&gt;") == "café"


_PIECES = st.sampled_from(
    "<p> </p> <b > <script> </script> <br/> <!-- --> &amp; lt; &#1; &#60; <![CDATA[ ]]> a \n \0 \x01 \x02 \ud800 é "
    "<li> <table> &nbsp; <svg> <?pi".split(" ")
)


@given(st.one_of(st.text(), st.lists(_PIECES).map("".join)))
def test_what_was_cleaned_is_clean(value: str) -> None:
    assert text_of(text_of(value)) == text_of(value)
    assert line_of(line_of(value)) == line_of(value)
    assert "\0" not in text_of(value).encode().decode()
