"""How numbers, moments and stances are written. Pure, and used by the templates as filters.

English, independent of the machine's locale.
"""

import re
import unicodedata
from collections.abc import Mapping
from datetime import date, datetime
from zoneinfo import ZoneInfo

from domain.match import Stance
from domain.post import Reach
from domain.text import without_links_and_handles
from reports.view import Rewording

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_WORDS_SHOWN = 3  # of those that an edit touched

# Nothing here may claim more than was judged: an unjudged post is never said to spread a claim.
_STANCES = {
    Stance.SPREADING: "spreads the claim",
    Stance.DEBUNKING: "debunks the claim",
    Stance.RELATED: "is about the same matter",
    Stance.UNJUDGED: "stance not judged yet",
}


def count(number: int, singular: str, plural: str | None = None) -> str:
    """`1 post`, `2 posts`, `12,300 posts`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def found(number: int, posted_since: int) -> str:
    """`3 new posts`; where older ones are among them, `3 newly found posts`."""
    return count(number, "new post" if posted_since == number else "newly found post")


def number(value: int) -> str:
    """`12,300`."""
    return f"{value:,}"


def compact(number: int) -> str:
    """At most four characters for any number below a billion: `9,999`, `41k`, `1.2M`."""
    if number < 10_000:
        return f"{number:,}"
    if number < 999_500:
        return f"{number / 1_000:.0f}k"
    return f"{number / 1_000_000:.1f}M"


def percent(share: float) -> str:
    """A confidence as per cent; never 0% or 100%, which no model can promise."""
    if share > 0.99:
        return "over 99%"
    return "under 1%" if share < 0.01 else f"{share:.0%}"


def day(moment: datetime | date, zone: ZoneInfo | None = None) -> str:
    """`27 Nov 2026`, in the zone where one is given."""
    local = moment.astimezone(zone) if isinstance(moment, datetime) else moment
    return f"{local.day} {_MONTHS[local.month - 1]} {local.year}"


def short_day(moment: datetime | date, zone: ZoneInfo | None = None) -> str:
    """`Fri 27 Nov`."""
    local = moment.astimezone(zone) if isinstance(moment, datetime) else moment
    return f"{_DAYS[local.weekday()]} {local.day} {_MONTHS[local.month - 1]}"


def clock(moment: datetime, zone: ZoneInfo) -> str:
    """`Fri 27 Nov, 08:00` in the zone."""
    return f"{short_day(moment, zone)}, {moment.astimezone(zone):%H:%M}"


def span(first: datetime, last: datetime, zone: ZoneInfo) -> str:
    """`Fri 27 Nov, 08:00 to Sat 28 Nov, 02:00` in the zone; one minute alone as `Fri 27 Nov, 08:00`."""
    start, end = clock(first, zone), clock(last, zone)
    return start if start == end else f"{start} to {end}"


def day_range(first: date, last: date) -> str:
    """`7 to 27 Nov`, `30 Oct to 19 Nov`; one day alone as `24 Nov`."""
    if first == last:
        return f"{last.day} {_MONTHS[last.month - 1]}"
    month = "" if (first.year, first.month) == (last.year, last.month) else f" {_MONTHS[first.month - 1]}"
    return f"{first.day}{month} to {last.day} {_MONTHS[last.month - 1]}"


def reach(seen: Reach) -> str:
    """`1,204 likes, reposts and replies · 41k views`; says so where the platform gives nothing."""
    if not seen.known:
        return "reach not given"
    parts = []
    if (answers := interactions(seen)) is not None:
        parts.append(f"{compact(answers)} likes, reposts and replies")
    if seen.views is not None:
        parts.append(f"{compact(seen.views)} view" + "s" * (seen.views != 1))
    return " · ".join(parts)


def interactions(seen: Reach) -> int | None:
    """Likes, reposts and replies together; None where the platform gives none of them."""
    given = any(n is not None for n in (seen.likes, seen.reposts, seen.replies))
    return seen.engagement if given else None


def stance(value: Stance) -> str:
    return _STANCES[value]


def stance_counts(posts: Mapping[Stance, int]) -> list[str]:
    """What the new posts do with the claim, a phrase each, those there are."""
    phrases = (
        (Stance.SPREADING, "post spreads it", "posts spread it"),
        (Stance.UNJUDGED, "post repeats it, stance not judged yet", "posts repeat it, stance not judged yet"),
        (Stance.DEBUNKING, "post debunks it", "posts debunk it"),
        (Stance.RELATED, "post is about the same matter", "posts are about the same matter"),
    )
    return [count(posts[kind], one, many) for kind, one, many in phrases if posts.get(kind)]


def rewording(seen: Rewording) -> list[tuple[str, str]]:
    """What a query does with its claim, verb and words: `leaves out`, `“Bill”, “Gates”, “5G” and 4 more`."""
    phrases = (
        ("leaves out", [_quoted(word) for word in seen.left_out]),
        ("has", [f"{_quoted(new)} for {_quoted(word)}" for word, new in seen.replaced]),
        ("adds", [_quoted(word) for word in seen.added]),
        ("gives more weight to", [_quoted(word) for word in seen.raised]),
        ("gives less weight to", [_quoted(word) for word in seen.lowered]),
    )
    return [(verb, _some(words)) for verb, words in phrases if words]


def _quoted(word: str) -> str:
    return f"“{line(word)}”"


def _some(words: list[str]) -> str:
    shown, more = words[:_WORDS_SHOWN], len(words) - _WORDS_SHOWN
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def one_decimal(value: float) -> str:
    """`6.2`."""
    return f"{value:,.1f}"


def direction(text: str) -> str:
    """`rtl` if most of its letters run from right to left; links and handles do not vote."""
    votes = [unicodedata.bidirectional(char) for char in without_links_and_handles(text)]
    right = sum(kind in {"R", "AL"} for kind in votes)
    return "rtl" if right > votes.count("L") else "ltr"


def language_tag(language: str) -> str:
    """The tag as HTML takes it; empty, which means unknown, for anything else."""
    is_tag = language != "und" and re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", language)
    return language if is_tag else ""


def line(text: str) -> str:
    """The text on one line, so that it cannot pass for the mail's own structure."""
    return " ".join(text.split())


def quote_lines(text: str, indent: str = "> ") -> str:
    """The text with every line marked as a quotation, so that no line of it can pass for ours."""
    return "\n".join(indent + line for line in re.split(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text))
