"""Dates as sources write them, to aware moments in UTC."""

import email.utils
import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache, lru_cache
from typing import Any

from dateutil import parser as dateutil_parser

_EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)  # before it nobody published fact-checks on the web
_AHEAD = timedelta(days=2)  # zones and wrong clocks
_REMEMBERED = 8192  # texts: files of fact-checks name the same days again and again
_LONGEST = 200  # characters; what is longer is a text, not a date
_EPOCH = re.compile(r"\d{9,10}(\.\d{1,9})?|\d{13}", re.ASCII)
_NUMERIC = r"\b\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})\b"
_DAY_FIRST = re.compile(_NUMERIC)
_INSIDE = re.compile(
    r"\d{1,2}(?:st|nd|rd|th)?\s+[^\W\d_]{3,}\.?,?\s+\d{4}|[^\W\d_]{3,}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}"
    rf"|\b\d{{4}}-\d\d-\d\d\b|{_NUMERIC}"
)
_PROSE = re.compile(r"(?:[^\W\d_]{2,}\W+){2}[^\W\d_]{2,}")  # three words in a row: no date, but one may stand inside
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_FREE = re.compile(r"(?=.*[^\W\d_])(?=.*\d{4})(?=.*(?<!\d)\d{1,2}(?!\d)).{8,40}", re.DOTALL)
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
# Two days that share no part: what differs between readings with the one and the other, the text does not say.
_FILLED = (datetime(2000, 1, 1), datetime(2001, 2, 2))  # noqa: DTZ001  (a zone comes from the text, or is UTC)
_ZONES = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "MEZ": 1, "MESZ": 2, "EET": 2,
    "EEST": 3, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}  # fmt: skip
# The more of them, the longer the first date takes that is left over: all that there are take seconds.
_LANGUAGES = (
    "es pt fr de it ca gl nl da sv nb fi is pl cs sk hu ro hr sr sl bg ru uk el tr ar fa he hi bn ur ta id ms tl vi th "
    "zh ja ko sw"
).split()


def parse_date(text: str, *, now: datetime) -> datetime | None:
    """The moment a text names; None if it names no day of a year, or one that no fact-check can have.

    A date of three numbers is day first, as most of the world writes it, unless that is no date (`05/26/2015`). A date
    without a time is midnight, one without a zone UTC. A sentence may stand around the date.
    """
    text = text.strip()
    moment = _parse(text) if 0 < len(text) <= _LONGEST else None
    return moment if moment and _EARLIEST <= moment <= now + _AHEAD else None


@lru_cache(maxsize=_REMEMBERED)
def _parse(text: str) -> datetime | None:
    if _EPOCH.fullmatch(text):
        seconds = float(text)
        return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, UTC)
    moment = _standard(text) or (None if _PROSE.search(text) else _by_parts(text))
    if moment is None and (inside := _INSIDE.search(text)):
        moment = _by_parts(inside[0])
    return moment or (_freely(text) if _FREE.fullmatch(text) else None)


def _standard(text: str) -> datetime | None:
    """ISO 8601 and the form of mails and feeds."""
    for read in (datetime.fromisoformat, email.utils.parsedate_to_datetime):
        try:
            return _utc(read(text))
        except (ValueError, OverflowError, IndexError, TypeError):
            continue
    return None


@lru_cache(maxsize=_REMEMBERED)
def _by_parts(text: str) -> datetime | None:
    """English month names and numbers in any order; None unless year, month and day are all there."""
    day_first = bool(_DAY_FIRST.match(text))
    try:
        readings = [
            dateutil_parser.parse(_ORDINAL.sub("", text), dayfirst=day_first, default=filled, tzinfos=_zone)
            for filled in _FILLED
        ]
        complete = readings[0].date() == readings[1].date()
        misread = _ISO_DAY.match(text) and readings[0].date().isoformat() != text[:10]  # 2020-13-01 is no 13 January
        return _utc(readings[0]) if complete and not misread else None
    except (ValueError, OverflowError, TypeError):
        return None


def _zone(name: str | None, offset_s: int | None) -> tzinfo | None:
    if offset_s is not None:
        return timezone(timedelta(seconds=offset_s))
    return timezone(timedelta(hours=_ZONES[name])) if name in _ZONES else None


def _freely(text: str) -> datetime | None:
    """Other languages' month names. Slow to load and to run, so only for what is left."""
    try:
        moment = _free_parser().get_date_data(text).date_obj
        return _utc(moment) if moment else None
    except (ValueError, OverflowError):
        return None


@cache
def _free_parser() -> Any:
    from dateparser.date import DateDataParser

    settings = {"DATE_ORDER": "DMY", "REQUIRE_PARTS": ["day", "month", "year"]}
    return DateDataParser(languages=_LANGUAGES, settings=settings)


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
