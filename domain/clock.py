"""Time is passed in, always aware UTC, so that a day can be replayed and tested."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)
