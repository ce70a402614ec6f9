"""Due times: local times in their zone, across clock changes, and how often a claim is searched."""

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.schedule import next_local_time, next_search, retry_delay
from daemon.settings import WatchSettings

ZONES = ["Europe/Madrid", "Asia/Kolkata", "America/St_Johns"]


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "at", "after", "expected"),
    [
        ("America/Santiago", time(0), "2027-09-04T16:00", ["2027-09-05T04:00", "2027-09-06T03:00"]),
        ("America/Los_Angeles", time(0), "2027-03-13T12:00", ["2027-03-14T08:00", "2027-03-15T07:00"]),
        ("Europe/Berlin", time(2, 30), "2027-10-30T12:00", ["2027-10-31T00:30", "2027-11-01T01:30"]),
        ("Europe/Berlin", time(2, 30), "2027-03-27T12:00", ["2027-03-28T01:00", "2027-03-29T00:30"]),
        ("UTC", time(8), "2026-11-26T08:00", ["2026-11-27T08:00", "2026-11-28T08:00"]),
        ("Pacific/Kiritimati", time(7), "2026-11-26T16:59", ["2026-11-26T17:00", "2026-11-27T17:00"]),
    ],
)
def test_a_daily_time_comes_once_a_local_day_also_where_the_clocks_jump(
    zone: str, at: time, after: str, expected: list[str]
) -> None:
    moment = utc(after)
    for wanted in expected:
        moment = next_local_time(moment, at, zone)
        assert moment == utc(wanted)


@given(st.integers(0, 4 * 365 * 24 * 60), st.times(), st.sampled_from(ZONES))
def test_the_next_time_is_later_and_at_most_a_day_and_a_jump_away(minutes: int, at: time, zone: str) -> None:
    start = utc("2026-01-01T00:00") + timedelta(minutes=minutes)
    assert start < next_local_time(start, at.replace(second=0, microsecond=0), zone) <= start + timedelta(hours=26)


def test_a_claim_with_fresh_posts_is_searched_more_often_and_a_quiet_one_less() -> None:
    bounds = WatchSettings(interval_hours=6, shortest_hours=1, longest_hours=48)
    assert next_search(timedelta(hours=6), 3, bounds).interval == timedelta(hours=3)
    assert next_search(timedelta(hours=1), 3, bounds).interval == timedelta(hours=1)
    assert next_search(timedelta(hours=6), 0, bounds).interval == timedelta(hours=12)
    assert next_search(timedelta(hours=40), 0, bounds).interval == timedelta(hours=48)


@pytest.mark.parametrize(
    ("hours", "fresh", "why"),
    [
        (6, 0, "searched every 12 hours, as the last search brought nothing more"),
        (2, 18, "searched every hour, as the last search brought 18 new posts"),
        (3, 1, "searched every 90 minutes, as the last search brought 1 new post"),
    ],
)
def test_the_interval_is_explained_by_what_the_last_search_brought(hours: int, fresh: int, why: str) -> None:
    assert next_search(timedelta(hours=hours), fresh, WatchSettings()).why == why


def test_what_breaks_waits_longer_each_time_up_to_a_day() -> None:
    assert [retry_delay(n) for n in (0, 1, 2)] == [timedelta(minutes=m) for m in (5, 10, 20)]
    assert retry_delay(500) == timedelta(days=1)
