"""One page from a platform, within budget: no request leaves without room for what it may cost, and what one request
learns about a platform (rate limited, out of credit, down) all workers heed."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import psycopg

from connectors.protocol import CompiledQuery, Connector, Estimate, Limits, Page, Prices, SearchFailed, Window
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
_BY_HAND = WatchId(-1)  # what is asked for no watch
_NO_POSTS = Limits(0, 0)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page and the room it was fetched in, to be settled in the transaction that stores the page."""

    page: Page
    reservation: Reservation


def fetch_page(
    service: Service, connector: Connector, watch: WatchId, compiled: CompiledQuery, window: Window,
    cursor: str | None, *, most: int,
) -> Fetched:  # fmt: skip
    """A page of at most `most` posts, or of the platform's smallest size.

    Raises SearchFailed, without a request where it is known that none would be answered.
    """
    limits = connector.limits
    sized = replace(limits, page_size=min(limits.page_size, max(limits.smallest_page, most)))
    with _room(service, connector.name, watch, sized, connector.prices) as reservation:
        page = connector.search(compiled, window, cursor, most=reservation.posts)
    return Fetched(page, reservation)


def read_page(service: Service, connector: Connector, compiled: CompiledQuery, window: Window) -> Page:
    """The first page, asked for by hand: it is paid for, and nothing of it is stored. Raises SearchFailed."""
    most = service.settings.search.reads_per_query
    fetched = fetch_page(service, connector, _BY_HAND, compiled, window, None, most=most)
    with service.database.connection() as conn:
        settle(conn, fetched, connector)
    return fetched.page


def settle(conn: psycopg.Connection, fetched: Fetched, connector: Connector) -> int:
    """Pay for what came, in the transaction that stores it; micro-dollars."""
    page = fetched.page
    returned = page.billed or [post.platform_id for post in page.posts]
    return spending.settle(conn, fetched.reservation, returned, connector.prices)


def count_posts(service: Service, connector: Connector, compiled: CompiledQuery, window: Window) -> Estimate:
    """What a query would bring, within budget where counting has a price. Raises SearchFailed."""
    prices = Prices(request=connector.prices.estimate)
    with _room(service, connector.name, _BY_HAND, _NO_POSTS, prices):
        return connector.estimate(compiled, window)


def gone(service: Service, connector: Connector, ids: Sequence[str]) -> set[str]:
    """Those of the posts that are no longer there. Raises SearchFailed.

    It is another service of the platform than the search: what fails there keeps back no search.
    """
    with _room(service, rechecks_of(connector.name), _BY_HAND, _NO_POSTS, Prices(), first_failure_closes=True):
        return connector.gone(ids)


def rechecks_of(connector: str) -> str:
    """The name under which the state of a connector's rechecks is kept."""
    return f"{connector} (rechecks)"


def is_closed(conn: psycopg.Connection, name: str, *, now: datetime) -> bool:
    """Whether it is known that no request would be answered now."""
    state = connector_states.state(conn, name)
    return state is not None and state.is_closed(now)


@contextmanager
def _room(
    service: Service, name: str, watch: WatchId, limits: Limits, prices: Prices, *, first_failure_closes: bool = False
) -> Iterator[Reservation]:
    """Budget for one request, given back if it fails; a failure is remembered for all workers, an answer ends it."""
    now = service.clock()
    with service.database.connection() as conn:
        state = connector_states.state(conn, name)
        if state and state.is_closed(now):
            raise SearchFailed(state.failure)
        reservation = spending.reserve(conn, name, watch, limits, prices, now=now)
    if isinstance(reservation, BudgetUsedUp):
        raise SearchFailed(reservation)
    try:
        yield reservation
    except SearchFailed as exc:
        failures = 1 + (state.failures if state else 0)
        allowed = 1 if first_failure_closes else _FAILURES_BEFORE_BREAK
        closed_until = _closed_until(exc.outcome, failures - allowed, now)
        with service.database.connection() as conn:
            spending.release(conn, reservation)
            connector_states.failed(conn, name, exc.outcome, closed_until=closed_until, now=now)
        logger.warning("request failed", extra={"connector": name, "outcome": str(exc.outcome)})
        raise
    if state:
        with service.database.connection() as conn:
            connector_states.works(conn, name, asked_at=now)


def _closed_until(outcome: Failure, beyond: int, now: datetime) -> datetime | None:
    """Until when no other request is sent; None: the next one may try. `beyond`: failures more than are put up with."""
    if isinstance(outcome, RateLimited):
        return outcome.until
    if isinstance(outcome, BudgetUsedUp):
        return outcome.until or now + _UNTIL_TOPPED_UP
    if isinstance(outcome, NotPermitted):
        return now + _UNTIL_PERMITTED
    if beyond < 0:
        return None
    return now + min(_FIRST_BREAK * (1 << min(beyond, 10)), _LONGEST_BREAK)
