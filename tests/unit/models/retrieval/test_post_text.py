import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.retrieval import post_text
from models.retrieval.post_text import CHANGES, clean_post, posted_on, search_words, split_tag, statement


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
    ("change", "before", "after"),
    [
        (post_text.decode_entities, "salt &amp; water &#8212; &lt;3", "salt & water — <3"),
        (post_text.fold_forms, "𝐁𝐫𝐞𝐚𝐤𝐢𝐧𝐠 ＃ＮＥＷＳ", "Breaking #NEWS"),
        (post_text.join_lines, " one\n two\u2028three ", "one two three"),
        (post_text.drop_date_at_end, "so it is — A B (@ab) January 6, 2020", "so it is — A B (@ab) "),
        (post_text.drop_date_at_end, "October 04, 19", ""),
        (post_text.drop_date_at_end, "on January 6, 2020 they came", "on January 6, 2020 they came"),
        (post_text.read_links, "x https://a.example/05/gates-wants-chips.html?id=1 y", "x  gates wants chips  y"),
        (post_text.read_links, "x#Newspic.twitter.com/0eJtwJyS1J", "x#News  "),
        (post_text.read_links, "https://t.co/0eJt-wJyS https://example.org/about-us", "     "),
        (post_text.read_tags, "#StopTheShot @news_desk", " Stop The Shot   news desk "),
        (post_text.fold_repeats, "what?!!!! so... no -- yes ? ? ?", "what?! so. no - yes ?"),
    ],
)  # fmt: skip
def test_each_change_does_one_thing(change: Callable[[str], str], before: str, after: str) -> None:
    assert change(before) == after


def test_all_changes_are_made_in_order() -> None:
    text = "𝐒𝐭𝐨𝐩 &amp; read!!!\n#StopTheShot https://t.co/abc — News Desk (@news_desk) May 4, 2021"
    assert clean_post(text) == "Stop & read! Stop The Shot — News Desk ( news desk )"
    assert {post_text.decode_entities, post_text.fold_forms, post_text.fold_repeats} <= set(CHANGES)


@pytest.mark.parametrize(
    ("post", "cleaned"),
    [
        ("Chips in shots! #StopTheShot https://t.co/abc @news_desk", "Chips in shots! Stop The Shot news desk"),
        ("see https://t.co/onehttps://t.co/two now", "see now"),
        ("pic.twitter.com/AbC www.example.org/x end", "end"),
        ("C# and mail@example.org stay", "C# and mail@example.org stay"),
        ("#वैक्सीन", "वैक्सीन"),
        ("😷 stays", "😷 stays"),
        ("", ""),
    ],
)
def test_links_go_and_tags_and_handles_become_words(post: str, cleaned: str) -> None:
    assert clean_post(post) == cleaned


@given(st.text(max_size=300))
def test_a_clean_post_stands_on_one_line(text: str) -> None:
    assert clean_post(text) == " ".join(clean_post(text).split())


def test_a_name_that_its_handle_repeats_is_asked_for_once() -> None:
    assert (
        search_words("Ice melts in May — Vera Exemplar (@VeraExemplar) May 4, 2021")
        == "ice melts in may vera exemplar veraexemplar"
    )


def test_words_run_together_in_a_tag_are_asked_for_as_they_are_and_apart() -> None:
    assert search_words("#stopthesteal now") == "stopthesteal now stop the steal"


@pytest.mark.parametrize(
    ("post", "said"),
    [
        ("It is so — News Desk (@news_desk) January 6, 2020", "It is so"),
        ("It is so - News (@n)", "It is so"),
        ("It is so, says @news_desk", "It is so, says news desk"),
        ("— News Desk (@news_desk) January 6, 2020", "— News Desk ( news desk )"),
    ],
)
def test_a_statement_is_the_post_without_its_signature(post: str, said: str) -> None:
    assert statement(post) == said


@pytest.mark.parametrize(
    ("post", "day"),
    [
        ("so — A (@a) January 6, 2020", datetime(2020, 1, 6, tzinfo=UTC)),
        ("so — A (@a)\nOctober 04, 19", datetime(2019, 10, 4, tzinfo=UTC)),
        ("so — A (@a) February 31, 2020", None),
        ("on January 6, 2020 they came", None),
        ("", None),
    ],
)
def test_the_day_that_a_quoted_post_ends_with_is_read(post: str, day: datetime | None) -> None:
    assert posted_on(post) == day


MONSTERS = [
    "a" * 30_000, "a " * 30_000, "#" + "a" * 30_000, "#" + "A" * 30_000, "é" * 30_000, " " * 30_000, "-" * 30_000,
    "- " * 15_000, "https://" * 4_000, "#a" * 15_000, "https://x.y/" + "a-" * 15_000, "word " * 3_000,
    "#stopthesteal " * 3_000,
]  # fmt: skip


@pytest.mark.parametrize("text", MONSTERS, ids=range(len(MONSTERS)))
def test_a_monstrous_post_is_cleaned_in_time(text: str) -> None:
    start = time.process_time()
    for read in (clean_post, statement, search_words, posted_on):
        read(text)
    assert time.process_time() - start < 2
