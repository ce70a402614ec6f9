from collections.abc import Callable
from datetime import date
from typing import TypeAlias

import pytest

from domain.match import Stance
from reports.view import ClaimView, PostView, fill_days

MakeClaim: TypeAlias = Callable[..., ClaimView]
MakePost: TypeAlias = Callable[..., PostView]


def test_days_without_posts_are_filled_up_to_the_last_day() -> None:
    filled = fill_days({date(2026, 11, 2): 5, date(2026, 10, 1): 9}, last=date(2026, 11, 3), days=3)
    assert filled == ((date(2026, 11, 1), 0), (date(2026, 11, 2), 5), (date(2026, 11, 3), 0))


def test_debunks_and_related_posts_do_not_count_as_repeating(make_claim: MakeClaim) -> None:
    stances = {Stance.SPREADING: 1, Stance.UNJUDGED: 2, Stance.DEBUNKING: 4, Stance.RELATED: 8}
    claim = make_claim(new_by_stance=stances)
    assert (claim.new_posts, claim.repeating) == (15, 3)


def test_posts_of_the_period_are_counted_apart_from_older_ones_found_in_it(make_claim: MakeClaim) -> None:
    claim = make_claim(since_by_stance={Stance.UNJUDGED: 2, Stance.DEBUNKING: 4})
    assert (claim.posted_since, claim.repeating_since) == (6, 2)


def test_a_claim_is_there_for_the_first_time_if_all_its_posts_are_new(make_claim: MakeClaim) -> None:
    assert make_claim(new_by_stance={Stance.UNJUDGED: 2}, total_posts=2).first_time
    assert not make_claim(new_by_stance={Stance.UNJUDGED: 2}, total_posts=3).first_time
    assert not make_claim(new_by_stance={}, total_posts=0).first_time


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://a.example/b?c=1", "https://a.example/b?c=1"),
        ("HTTP://a.example", "HTTP://a.example"),
        ('https://a.example/"><b>', "https://a.example/%22%3E%3Cb%3E"),
        ("javascript:alert(1)", None),
        ("https://a.example/\r\nx", None),
        ("data:text/html,x", None),
        ("", None),
        (None, None),
    ],
)
def test_only_web_addresses_become_links(make_post: MakePost, url: str | None, link: str | None) -> None:
    assert make_post(url=url).link == link
