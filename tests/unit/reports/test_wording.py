from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from domain.match import Stance
from domain.post import Reach
from reports import wording
from reports.view import Rewording


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (10_000, "10k"),
        (41_234, "41k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_250_000, "1.2M"),
    ],
)
def test_large_numbers_are_shortened(number: int, words: str) -> None:
    assert wording.compact(number) == words


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "under 1%"), (0.01, "1%"), (0.934, "93%"), (0.99, "99%"), (0.9951, "over 99%"), (1.0, "over 99%")],
)
def test_a_confidence_is_never_all_or_nothing(share: float, words: str) -> None:
    assert wording.percent(share) == words


def test_one_is_singular_and_everything_else_plural() -> None:
    assert [wording.count(n, "search", "searches") for n in (0, 1, 1200)] == [
        "0 searches",
        "1 search",
        "1,200 searches",
    ]


def test_posts_are_called_new_only_where_all_were_made_since() -> None:
    assert [wording.found(3, 3), wording.found(1, 0)] == ["3 new posts", "1 newly found post"]


def test_a_span_has_a_date_at_both_ends_and_a_moment_is_told_once() -> None:
    first, last = datetime(2026, 11, 26, 23, 30, tzinfo=UTC), datetime(2026, 11, 27, 6, 5, tzinfo=UTC)
    assert wording.span(first, last, ZoneInfo("Europe/Madrid")) == "Fri 27 Nov, 00:30 to Fri 27 Nov, 07:05"
    assert wording.span(first, first, ZoneInfo("UTC")) == "Thu 26 Nov, 23:30"


def test_times_follow_the_zone_and_not_the_machine() -> None:
    moment = datetime(2026, 11, 26, 23, 30, tzinfo=UTC)
    assert wording.clock(moment, ZoneInfo("Asia/Tokyo")) == "Fri 27 Nov, 08:30"
    assert wording.day(moment, ZoneInfo("Asia/Tokyo")) == "27 Nov 2026"
    assert wording.short_day(date(2026, 11, 1)) == "Sun 1 Nov"


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (Reach(), "reach not given"),
        (Reach(views=1), "1 view"),
        (Reach(likes=0, reposts=0, replies=0), "0 likes, reposts and replies"),
        (Reach(likes=1200, views=12_000), "1,200 likes, reposts and replies · 12k views"),
    ],
)
def test_reach_is_told_as_far_as_it_is_known(seen: Reach, words: str) -> None:
    assert wording.reach(seen) == words


def test_an_unjudged_post_is_not_said_to_spread_anything() -> None:
    assert "spread" not in wording.stance(Stance.UNJUDGED)
    assert "spread" not in " ".join(wording.stance_counts({Stance.UNJUDGED: 1, Stance.DEBUNKING: 2, Stance.RELATED: 3}))


def test_every_stance_has_words() -> None:
    assert all(wording.stance(value) for value in Stance)
    assert len(wording.stance_counts({value: 1 for value in Stance})) == len(Stance)


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("RT @name_en: ماء الصنبور ممنوع https://en.example/long/english/path", "rtl"),
        ("המים אסורים", "rtl"),
        ("Tap water ماء is banned", "ltr"),
        ("🚰🚰", "ltr"),
        ("", "ltr"),
    ],
)
def test_direction_is_that_of_most_letters(text: str, way: str) -> None:
    assert wording.direction(text) == way


@pytest.mark.parametrize(
    ("language", "tag"), [("en", "en"), ("zh-Hant", "zh-Hant"), ("und", ""), ('"><b>', ""), ("", "")]
)
def test_only_language_tags_reach_the_markup(language: str, tag: str) -> None:
    assert wording.language_tag(language) == tag


def test_a_rewording_names_three_words_of_each_kind_and_counts_the_others() -> None:
    seen = Rewording(left_out=("Bill", "Gates", "5G", "put", "in"), replaced=(("vaccine", "jab"),), lowered=("says",))
    assert wording.rewording(seen) == [
        ("leaves out", "“Bill”, “Gates”, “5G” and 2 more"),
        ("has", "“jab” for “vaccine”"),
        ("gives less weight to", "“says”"),
    ]
    assert wording.rewording(Rewording()) == []


def test_a_rewording_stays_on_one_line() -> None:
    assert wording.rewording(Rewording(added=("a\nb\u2028c",))) == [("adds", "“a b c”")]
