"""Fires the tick at short intervals beside a worker. What is due is the database's business, not the clock's."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from apscheduler.schedulers.background import BackgroundScheduler

logger = logging.getLogger(__name__)


@contextmanager
def ticking(tick: Callable[[], object], *, every_s: float) -> Iterator[None]:
    """Call `tick` now and every `every_s` seconds in a thread of its own; late or missed ones become one."""
    scheduler = BackgroundScheduler(timezone="UTC")
    scheduler.add_job(
        lambda: _guarded(tick), "interval", seconds=every_s, coalesce=True, misfire_grace_time=None, max_instances=1
    )
    scheduler.start()
    try:
        _guarded(tick)
        yield
    finally:
        scheduler.shutdown(wait=True)


def _guarded(tick: Callable[[], object]) -> None:
    try:
        tick()
    except Exception:
        logger.exception("tick failed", extra={"action": "tick"})
