"""budget and forget as people run them, and that what is asked by hand is paid for like the rest."""

from pathlib import Path

import pytest

from tests.acceptance.conftest import Claimwatch
from tests.acceptance.test_cases import CLAIM, platform


@pytest.mark.parametrize("arguments", [[], ["--dollars", "1", "--posts", "2"], ["--none", "--posts", "2"]])
def test_a_cap_is_of_money_or_of_posts_or_there_is_none(claimwatch: Claimwatch, arguments: list[str]) -> None:
    answer = claimwatch("budget", "set", "local", *arguments)
    assert answer.code == 2
    assert "give one of --dollars, --posts and --none" in answer.err


def test_a_search_by_hand_is_within_budget(claimwatch: Claimwatch, tmp_path: Path) -> None:
    local = platform(tmp_path, "Tap water is banned in Quillhaven, they say", kind="boolean")
    assert claimwatch("budget", "set", "local", "--dollars", "nan", **local).code == 2
    assert claimwatch("search", CLAIM, **local).out.endswith("1 posts found, 1 shown\n")
    assert (
        claimwatch("budget", "set", "local", "--posts", "0", "--a", "day", **local).out
        == "local: at most 0 posts a day\n"
    )
    refused = claimwatch("search", CLAIM, **local)
    assert refused.out.endswith("0 posts found, 0 shown\n")
    assert refused.complaint.count("budget used up until") == 1, "the next query would fare the same"
    assert claimwatch("budget", "set", "local", "--none", "--a", "day", **local).out == "local: no cap a day\n"
    assert claimwatch("search", CLAIM, **local).out.endswith("1 posts found, 1 shown\n")


def test_forgetting_what_was_never_stored_says_so(claimwatch: Claimwatch) -> None:
    answer = claimwatch("forget", "--platform", "x", "--post", "123")
    assert answer.out == "nothing of it was stored; it will not be taken in from now on\n"


def test_a_cap_below_the_smallest_page_is_told_to_end_all_searches(claimwatch: Claimwatch) -> None:
    given = '{"feed": {"type": "x", "options": {"bearer_token": "t"}}}'
    small = claimwatch("budget", "set", "feed", "--posts", "5", "--a", "day", CLAIMWATCH_CONNECTORS=given)
    assert (small.code, small.out) == (0, "feed: at most 5 posts a day\n")
    assert "feed: one page is more than that" in small.complaint
    enough = claimwatch("budget", "set", "feed", "--dollars", "0.05", CLAIMWATCH_CONNECTORS=given)
    assert (enough.code, enough.complaint) == (0, "")


def test_a_platform_of_which_nothing_is_held_is_told_as_it_may_be_a_slip(claimwatch: Claimwatch) -> None:
    answer = claimwatch("forget", "--platform", "twitter", "--author", "77")
    assert answer.code == 0
    assert "no post of a platform 'twitter' is held" in answer.complaint
    blank = claimwatch("forget", "--platform", " ", "--post", "123")
    assert (blank.code, blank.out) == (2, "")
    assert "--platform is empty" in blank.complaint
