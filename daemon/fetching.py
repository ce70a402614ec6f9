"""One page from a platform, within budget: no request leaves without room for what it may cost, and what one request
learns about a platform (rate limited, out of credit, down) all workers heed."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from connectors.protocol import CompiledQuery, Connector, Page, SearchFailed, Window
from daemon.service import Service
from daemon.store import connector_states, spending
from daemon.store.outcomes import Failure
from daemon.store.spending import Reservation
from domain.ids import WatchId
from domain.outcome import BudgetUsedUp, NotPermitted, RateLimited

logger = logging.getLogger(__name__)

_FAILURES_BEFORE_BREAK = 5  # in a row
_FIRST_BREAK = timedelta(minutes=5)
_LONGEST_BREAK = timedelta(hours=1)
_UNTIL_TOPPED_UP = timedelta(hours=6)  # between two looks whether there is credit again: a refused request is free
_UNTIL_PERMITTED = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page and the room it was fetched in, to be settled in the transaction that stores the page."""

    page: Page
    reservation: Reservation


def fetch_page(
    service: Service, connector: Connector, watch: WatchId, compiled: CompiledQuery, window: Window, cursor: str | None
) -> Fetched:
    """Raises SearchFailed, without a request where it is known that none would be answered."""
    now = service.clock()
    with service.database.connection() as conn:
        state = connector_states.state(conn, connector.name)
        if state and state.closed_until and state.closed_until > now:
            raise SearchFailed(state.failure)
        reservation = spending.reserve(conn, connector.name, watch, connector.limits, connector.prices, now=now)
    if isinstance(reservation, BudgetUsedUp):
        raise SearchFailed(reservation)
    try:
        page = connector.search(compiled, window, cursor, most=reservation.posts)
    except SearchFailed as exc:
        with service.database.connection() as conn:
            spending.release(conn, reservation)
            failures = 1 + (state.failures if state else 0)
            closed_until = _closed_until(exc.outcome, failures, now)
            connector_states.failed(conn, connector.name, exc.outcome, closed_until=closed_until, now=now)
        logger.warning("search failed", extra={"connector": connector.name, "outcome": str(exc.outcome)})
        raise
    if state:
        with service.database.connection() as conn:
            connector_states.works(conn, connector.name)
    return Fetched(page, reservation)


def _closed_until(outcome: Failure, failures: int, now: datetime) -> datetime | None:
    """Until when no other search is sent; None: the next one may try."""
    if isinstance(outcome, RateLimited):
        return outcome.until
    if isinstance(outcome, BudgetUsedUp):
        return outcome.until or now + _UNTIL_TOPPED_UP
    if isinstance(outcome, NotPermitted):
        return now + _UNTIL_PERMITTED
    if failures < _FAILURES_BEFORE_BREAK:
        return None
    return now + min(_FIRST_BREAK * (1 << min(failures - _FAILURES_BEFORE_BREAK, 10)), _LONGEST_BREAK)
