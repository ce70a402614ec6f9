import re

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from models.retrieval.analyser import BOOLEAN, ENDPOINT, ENGLISH, Analyser

ASCII = st.text(alphabet=st.characters(max_codepoint=127))


def endpoint_stems(text: str) -> list[str]:
    """The simulated platform's tokens, written anew: lower case, [a-z0-9]+, Snowball."""
    stem = Stemmer.Stemmer("english").stemWord
    return [stem(word) for word in re.findall(r"[a-z0-9]+", text.lower())]


@given(ASCII)
def test_on_ascii_text_the_boolean_analyser_gives_the_platforms_tokens(text: str) -> None:
    assert BOOLEAN(text) == endpoint_stems(text)


@given(st.text())
def test_on_any_text_the_endpoint_analyser_gives_the_platforms_tokens(text: str) -> None:
    assert ENDPOINT(text) == endpoint_stems(text)


@given(ASCII)
def test_an_ascii_word_is_cut_the_same_way_beside_other_scripts(text: str) -> None:
    assert BOOLEAN(text + " ж") == [*BOOLEAN(text), "ж"]


@given(st.text())
def test_a_text_and_its_words_apart_give_the_same_tokens(text: str) -> None:
    assert [token for word in text.split() for token in ENGLISH(word)] == ENGLISH(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Vacunación en São Paulo", ["vacunacion", "en", "sao", "paulo"]),
        ("Вакцина содержит чипы", ["вакцина", "содержит", "чипы"]),
        ("ёлка", ["елка"]),
        ("اللِّقاح يحتوي", ["اللقاح", "يحتوي"]),
        ("टीका सुरक्षित है", ["टीका", "सुरक्षित", "है"]),
        ("백신은 안전", ["백신은", "안전"]),
        ("ＶＡＣＣＩＮＥ 𝐜𝐡𝐢𝐩", ["vaccine", "chip"]),
        ("Straße snake_case", ["strasse", "snake", "case"]),
        ("🙂 … — !", []),
    ],
)
def test_words_of_any_script_become_tokens(text: str, tokens: list[str]) -> None:
    assert Analyser(stem=False)(text) == tokens


def test_accents_and_composition_make_no_difference() -> None:
    assert BOOLEAN("café") == BOOLEAN("cafe\u0301") == BOOLEAN("CAFE")


def test_stop_words_go_and_negations_stay() -> None:
    assert ENGLISH("They didn't say that the vaccines are not safe") == ["say", "vaccin", "not", "safe"]
