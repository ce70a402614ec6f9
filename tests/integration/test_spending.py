"""Budgets in a real database: never above, never stuck, and what was not spent comes back."""

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from connectors.protocol import Limits, Prices
from daemon.store import spending
from daemon.store.spending import Reservation
from domain.outcome import BudgetUsedUp
from tests.integration.conftest import NOW

LIMITS = Limits(100, smallest_page=10)
PRICES = Prices(post=5_000)
WORKERS, ROUNDS, CAP = 8, 100, 1000


def spent(conn: psycopg.Connection, connector: str) -> dict[tuple[int, str], tuple[int, int]]:
    rows = conn.execute(
        "SELECT watch_id, period, posts, micro_dollars FROM spending WHERE connector = %s", [connector]
    ).fetchall()
    return {(watch, period): (posts, cost) for watch, period, posts, cost in rows}


def reserve(conn: psycopg.Connection, watch: int = 7, at: datetime = NOW) -> Reservation | BudgetUsedUp:
    return spending.reserve(conn, "x", watch, LIMITS, PRICES, now=at)


def granted(conn: psycopg.Connection, watch: int = 7) -> int:
    reservation = reserve(conn, watch)
    assert isinstance(reservation, Reservation)
    return reservation.posts


def race(dsn: str, connector: str, worker: int) -> int:
    """Reserve until nothing is left, giving back every third; the units kept."""
    generator, kept = random.Random(worker), 0
    with psycopg.connect(dsn, autocommit=True) as conn:
        while True:
            watch = generator.randint(1, 2)
            limits, prices = Limits(generator.choice([50, 100])), Prices(post=1)
            with conn.transaction():
                room = spending.reserve(conn, connector, watch, limits, prices, now=NOW)
            if isinstance(room, BudgetUsedUp):
                return kept
            if generator.random() < 1 / 3:
                with conn.transaction():
                    spending.release(conn, room)
            else:
                kept += room.posts


def test_8_workers_racing_100_times_for_1000_units_never_spend_more_and_never_get_stuck(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        for number in range(ROUNDS):
            spending.set_cap(conn, f"x{number}", "connector", "day", "posts", CAP)
    with ThreadPoolExecutor(WORKERS) as pool, psycopg.connect(dsn, autocommit=True) as conn:
        for number in range(ROUNDS):
            connector = f"x{number}"
            kept = list(pool.map(race, [dsn] * WORKERS, [connector] * WORKERS, range(WORKERS), timeout=60))
            assert spent(conn, connector)[0, "day"] == (sum(kept), sum(kept))
            assert CAP - 100 < sum(kept) <= CAP


def test_without_a_cap_nothing_holds_a_request_back_and_it_is_counted(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        assert granted(conn) == 100
        assert spent(conn, "x")[0, "month"] == (100, 500_000)


def test_the_last_page_is_as_small_as_what_is_left(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        spending.set_cap(conn, "x", "connector", "month", "micro_dollars", 625_000)
        assert [granted(conn), granted(conn)] == [100, 25]
        assert reserve(conn) == BudgetUsedUp(datetime(2026, 12, 1, tzinfo=UTC))


def test_less_than_the_smallest_page_is_not_asked_for(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        spending.set_cap(conn, "x", "connector", "day", "posts", 109)
        assert granted(conn) == 100
        assert reserve(conn) == BudgetUsedUp(datetime(2026, 11, 29, tzinfo=UTC))
        assert isinstance(reserve(conn, at=NOW + timedelta(days=1)), Reservation)


def test_a_claims_cap_stops_that_claim_alone(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        spending.set_cap(conn, "x", "claim", "day", "posts", 100)
        assert granted(conn, watch=1) == 100
        assert isinstance(reserve(conn, watch=1), BudgetUsedUp)
        assert granted(conn, watch=2) == 100


def test_of_several_caps_that_are_used_up_the_last_to_end_is_named(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        spending.set_cap(conn, "x", "connector", "day", "posts", 0)
        spending.set_cap(conn, "x", "connector", "month", "posts", 0)
        assert reserve(conn) == BudgetUsedUp(datetime(2026, 12, 1, tzinfo=UTC))


def test_a_page_costs_what_it_brought_and_a_post_once_a_utc_day(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        posts = [f"post {number}" for number in range(12)]
        first, second = reserve(conn), reserve(conn)
        assert isinstance(first, Reservation) and isinstance(second, Reservation)
        assert spending.settle(conn, first, posts[:10], PRICES) == 50_000
        assert spending.settle(conn, second, posts[5:], PRICES) == 10_000
        assert spent(conn, "x")[0, "day"] == (12, 60_000)
        tomorrow = reserve(conn, at=NOW + timedelta(days=1))
        assert isinstance(tomorrow, Reservation)
        assert spending.settle(conn, tomorrow, posts, PRICES) == 60_000


def test_a_request_that_failed_costs_nothing(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        reservation = reserve(conn)
        assert isinstance(reservation, Reservation)
        spending.release(conn, reservation)
        assert set(spent(conn, "x").values()) == {(0, 0)}


def test_a_reservation_that_was_never_settled_stays_spent(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        spending.set_cap(conn, "x", "connector", "day", "posts", 100)
        assert granted(conn) == 100
    with psycopg.connect(dsn) as conn:
        assert isinstance(reserve(conn), BudgetUsedUp)


@pytest.mark.parametrize(
    ("now", "period", "ends"),
    [
        (datetime(2026, 12, 31, 23, 59, tzinfo=UTC), "month", datetime(2027, 1, 1, tzinfo=UTC)),
        (datetime(2024, 2, 29, tzinfo=UTC), "month", datetime(2024, 3, 1, tzinfo=UTC)),
        (datetime(2026, 11, 28, 23, 59, tzinfo=UTC), "day", datetime(2026, 11, 29, tzinfo=UTC)),
    ],
)
def test_periods_are_those_of_utc(now: datetime, period: spending.Period, ends: datetime) -> None:
    assert spending.next_period(period, now) == ends


def test_the_overview_shows_what_is_spent_of_each_cap(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        spending.set_cap(conn, "x", "connector", "day", "posts", 1000)
        spending.set_cap(conn, "x", "claim", "month", "micro_dollars", 900_000)
        granted(conn)
        rows = [(row["scope"], row["unit"], row["cap"], row["spent"]) for row in spending.overview(conn, now=NOW)]
        assert rows == [("claim", "micro_dollars", 900_000, 500_000), ("connector", "posts", 1000, 100)]
        spending.set_cap(conn, "x", "connector", "day", "posts", None)
        assert len(spending.overview(conn, now=NOW)) == 1


def test_what_was_charged_on_days_that_are_over_is_forgotten(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        first = reserve(conn)
        assert isinstance(first, Reservation)
        spending.settle(conn, first, ["1", "2", "3"], PRICES)
        for days, left in [(1, 3), (2, 0)]:
            spending.forget_charges(conn, now=NOW + timedelta(days=days))
            assert conn.execute("SELECT count(*) FROM charged_posts").fetchone() == (left,)


def test_a_price_for_the_request_itself_is_reserved_as_well(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        spending.set_cap(conn, "x", "connector", "day", "micro_dollars", 10_000)
        dear = replace(PRICES, post=0, request=6_000)
        assert isinstance(spending.reserve(conn, "x", 1, LIMITS, dear, now=NOW), Reservation)
        assert isinstance(spending.reserve(conn, "x", 1, LIMITS, dear, now=NOW), BudgetUsedUp)


def test_a_free_request_needs_no_room_also_where_nothing_is_left(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        assert granted(conn) == 100
        spending.set_cap(conn, "x", "connector", "day", "posts", 10)
        free = spending.reserve(conn, "x", 1, Limits(0, 0), Prices(), now=NOW)
        assert isinstance(free, Reservation)
        assert spent(conn, "x")[0, "day"] == (100, 500_000)
