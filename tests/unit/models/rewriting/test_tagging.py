import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.rewriting.tagging import is_word, supports, tag


def test_only_english_can_be_edited() -> None:
    assert supports("en")
    assert not any(map(supports, ("de", "pt", "ar", "", "und")))


def test_tokens_have_part_tag_lemma_and_stop_word_mark() -> None:
    [tokens] = tag(["The vaccines killed 5 people."])
    assert [(t.text, t.pos, t.tag, t.lemma, t.is_stop) for t in tokens] == [
        ("The", "DET", "DT", "the", True),
        ("vaccines", "NOUN", "NNS", "vaccine", False),
        ("killed", "VERB", "VBD", "kill", False),
        ("5", "NUM", "CD", "5", False),
        ("people", "NOUN", "NNS", "people", False),
        (".", "PUNCT", ".", ".", False),
    ]


@pytest.mark.parametrize(
    ("text", "verb", "is_plural"),
    [
        ("The vaccines in the water caused deaths", "caused", True),
        ("The vaccine against the viruses caused deaths", "caused", False),
        ("Gates and Fauci lied", "lied", True),
        ("The doctor died and she lied", "lied", False),
        ("They lied", "lied", True),
        ("Died", "Died", False),
    ],
)
def test_a_verb_knows_whether_its_subject_is_plural(text: str, verb: str, is_plural: bool) -> None:
    [tokens] = tag([text])
    assert [t.has_plural_subject for t in tokens if t.text == verb] == [is_plural]


def test_a_lone_surrogate_is_left_out() -> None:
    assert [token.text for token in tag(["Water \ud800 boils."])[0]] == ["Water", "boils", "."]


def test_texts_are_tagged_in_order_and_nothing_has_no_tokens() -> None:
    first, empty, blank, last = tag(["one", "", " \n ", "two"])
    assert (first[0].text, empty, blank, last[0].text) == ("one", (), (), "two")


@pytest.mark.parametrize(
    ("text", "expected"), [("water", True), ("पानी", True), ("5", True), ("!", False), ("😀", False), ("\0", False)]
)
def test_a_word_holds_a_letter_or_a_digit(text: str, expected: bool) -> None:
    [[token]] = tag([text])
    assert is_word(token) is expected


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80))
def test_no_character_is_lost(text: str) -> None:
    [tokens] = tag([text])
    assert "".join(token.text + token.space for token in tokens) == text.strip()
    assert all(token.text.strip() for token in tokens)
