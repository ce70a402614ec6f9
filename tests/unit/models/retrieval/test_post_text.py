import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.retrieval.post_text import clean_post, search_words, split_tag


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ("StopTheSteal", "Stop The Steal"),
        ("name_en", "name en"),
        ("Covid19", "Covid 19"),
        ("BLMProtest", "BLM Protest"),
        ("DMs", "DMs"),
        ("2020Election", "2020 Election"),
        ("СтопВакцина", "Стоп Вакцина"),
        ("__x__", "x"),
        ("plandemic", "plandemic"),
    ],
)
def test_a_tag_is_split_into_its_words(tag: str, words: str) -> None:
    assert split_tag(tag) == words


@given(st.from_regex(r"\w+", fullmatch=True))
def test_splitting_a_tag_loses_no_letter(tag: str) -> None:
    assert split_tag(tag).replace(" ", "") == tag.replace("_", "")


@pytest.mark.parametrize(
    ("post", "cleaned"),
    [
        ("Chips in shots! #StopTheShot https://t.co/abc @news_desk", "Chips in shots! Stop The Shot news desk"),
        ("see https://t.co/onehttps://t.co/two now", "see now"),
        ("pic.twitter.com/AbC www.example.org/x end", "end"),
        ("salt &amp; water", "salt & water"),
        ("C# and mail@example.org stay", "C# and mail@example.org stay"),
        ("#वैक्सीन", "वैक्सीन"),
        ("", ""),
    ],
)
def test_links_go_and_tags_and_handles_become_words(post: str, cleaned: str) -> None:
    assert clean_post(post) == cleaned


def test_a_name_that_its_handle_repeats_is_asked_for_once() -> None:
    assert search_words("Ice melts — Vera Exemplar (@VeraExemplar) May 4") == "ice melts vera exemplar may 4"
