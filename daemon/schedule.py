"""When things are due: a subscription's local time in its zone, a watch's next search. Pure."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from daemon.settings import WatchSettings

_MINUTE = timedelta(minutes=1)


def next_local_time(after: datetime, local_time: time, zone: str) -> datetime:
    """The first moment after `after` at which the clocks of `zone` show `local_time`, in UTC.

    Where the clocks jump over that time, the next valid minute of that day; where they show it twice, the first.
    """
    day = after.astimezone(ZoneInfo(zone)).date() - timedelta(days=1)
    while (moment := _moment(day, local_time, zone)) <= after:
        day += timedelta(days=1)
    return moment


def _moment(day: date, local_time: time, zone: str) -> datetime:
    local = datetime.combine(day, local_time.replace(tzinfo=None, fold=0), ZoneInfo(zone))
    moment = local.astimezone(UTC)
    if moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) == local.replace(tzinfo=None):
        return moment
    # In a gap: with fold=0 the offset from before the jump is used, which lands as far behind the jump as the wanted
    # time lies behind its start; the first valid minute is the jump itself.
    before, after = moment - timedelta(hours=3), moment
    while after - before > _MINUTE:
        middle = before + (after - before) / 2
        shown = middle.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        before, after = (middle, after) if shown < local.replace(tzinfo=None) else (before, middle)
    return after.replace(second=0, microsecond=0)


@dataclass(frozen=True, slots=True)
class NextSearch:
    interval: timedelta
    why: str


def next_search(interval: timedelta, new_matches: int, settings: WatchSettings) -> NextSearch:
    """A claim with fresh matches is searched twice as often, a quiet one half as often, within the set bounds."""
    shortest, longest = timedelta(hours=settings.shortest_hours), timedelta(hours=settings.longest_hours)
    if new_matches:
        chosen = max(interval / 2, shortest)
        brought = f"{new_matches} new post{'s' * (new_matches > 1)}"
    else:
        chosen, brought = min(interval * 2, longest), "nothing more"
    return NextSearch(chosen, f"searched every {_spoken(chosen)}, as the last search brought {brought}")


def _spoken(interval: timedelta) -> str:
    """`12 hours`, `hour`, `90 minutes`."""
    minutes = round(interval / _MINUTE)
    if minutes % 60:
        return f"{minutes} minutes" if minutes > 1 else "minute"
    return f"{minutes // 60} hours" if minutes > 60 else "hour"


def retry_delay(failures: int) -> timedelta:
    """How long a search or mail that broke waits before the next attempt: 5 minutes, doubling, at most a day."""
    return min(timedelta(minutes=5 * (1 << min(failures, 10))), timedelta(days=1))
