"""Dates as sources write them, to aware moments in UTC."""

import re
from datetime import UTC, datetime, timedelta

from dateutil import parser as dateutil_parser

_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)  # before it nobody published fact-checks on the web
_AHEAD = timedelta(days=2)  # zones and wrong clocks
_EPOCH = re.compile(r"\d{9,10}(\.\d+)?|\d{13}")
_DAY_FIRST = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{4}")
_IN_WORDS = re.compile(
    r"(?:\d{1,2}(?:st|nd|rd|th)?\s+[^\W\d_]{3,}\.?,?\s+\d{4}|[^\W\d_]{3,}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4})"
)


def parse_date(text: str, *, now: datetime) -> datetime | None:
    """The moment a text names; None if it names none, or one that no fact-check can have.

    A date of three numbers is day first, as most of the world writes it, unless that is no date; a date without a time
    is midnight UTC. A sentence may stand around the date.
    """
    text = text.strip()
    if not text or len(text) > 200:
        return None
    moment = _parse(text)
    return moment if moment and _EARLIEST <= moment <= now + _AHEAD else None


def _parse(text: str) -> datetime | None:
    if _EPOCH.fullmatch(text):
        seconds = float(text)
        return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, UTC)
    moment = _strictly(text)
    if moment is None and (inside := _IN_WORDS.search(text)):
        moment = _strictly(inside[0])
    return moment or _freely(text)


def _strictly(text: str) -> datetime | None:
    try:
        return _utc(datetime.fromisoformat(text))
    except ValueError:
        pass
    try:
        midnight = datetime(2000, 1, 1)  # noqa: DTZ001  (what the text leaves out)
        return _utc(dateutil_parser.parse(text, dayfirst=bool(_DAY_FIRST.match(text)), default=midnight))
    except (ValueError, OverflowError):
        return None


def _freely(text: str) -> datetime | None:
    """Other languages' month names. Slow to load, so only for what is left."""
    if not re.search(r"\d{4}", text):
        return None
    import dateparser

    moment = dateparser.parse(text, settings={"DATE_ORDER": "DMY", "REQUIRE_PARTS": ["day", "month", "year"]})
    return _utc(moment) if moment else None


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
