"""Dates as sources write them."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.intake.dates import parse_date

NOW = datetime(2026, 11, 28, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2015-05-26", "20150526", "2015-05-26T00:00:00Z", "2015-05-26T02:00:00+02:00", "2015/05/26", "26 May 2015",
        "May 26, 2015", "May 26th, 2015", "Tuesday, May 26 2015", "Tue, 26 May 2015 00:00:00 GMT",
        "Mon, 25 May 2015 20:00:00 -0400", "Mon, 25 May 2015 20:00:00 EDT", "2015-05-26 00:00 XYZ", "1432598400",
        "1432598400000", "1432598400.0", "26.05.2015", "26/05/2015", "05/26/2015", "26.05.15",
        "stated on May 26, 2015 in an interview:", "Posted by the desk on 26/05/2015", 
        "Last edit of the page: 2015-05-26",
        "26 de mayo de 2015", "26. Mai 2015", "26 mai 2015", "26 maggio 2015", "٢٦ مايو ٢٠١٥", "2015年5月26日",
        "  26 May 2015\n",
    ],
)  # fmt: skip
def test_a_day_is_read_however_it_is_written(text: str) -> None:
    assert parse_date(text, now=NOW) == datetime(2015, 5, 26, tzinfo=UTC)


def test_three_numbers_are_day_first() -> None:
    assert parse_date("03/04/2020", now=NOW) == datetime(2020, 4, 3, tzinfo=UTC)


def test_the_time_of_day_is_kept() -> None:
    assert parse_date("May 26, 2015 at 3:04 PM", now=NOW) == datetime(2015, 5, 26, 15, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "yesterday", "May", "May 2015", "2015", "Monday", "10:30", "26 May", "1.5", "2020-13-01", "2020-02-30",
        "The year 2015 was, when 12 came, a surprise", "26 May 2015 " * 20, "0001-01-01T00:00:00+05:00",
        "9999-12-31T23:59:59-05:00",
    ],
)  # fmt: skip
def test_what_names_no_day_of_a_year_is_no_date(text: str) -> None:
    assert parse_date(text, now=NOW) is None


def test_a_day_no_fact_check_can_have_is_no_date() -> None:
    assert parse_date("1989-12-31", now=NOW) is None
    assert parse_date((NOW + timedelta(days=3)).isoformat(), now=NOW) is None
    assert parse_date((NOW + timedelta(days=1)).isoformat(), now=NOW) is not None


_PIECES = st.sampled_from(
    "2015 26 May mayo - / . : , T Z +02:00 PM am th 0001 9999 31 00 1e5 W22 of Mon EST XYZ UTC+3 ٢ 年 -0500 ( '".split()
)


@settings(deadline=None)  # the first text that is left to dateparser loads it
@given(st.one_of(st.text(max_size=40), st.lists(_PIECES, max_size=12).map(" ".join), st.lists(_PIECES).map("".join)))
def test_no_text_raises_and_every_moment_is_utc(text: str) -> None:
    moment = parse_date(text, now=NOW)
    assert moment is None or moment.utcoffset() == timedelta(0)
