"""Who may ask a platform, and when: caps, pauses that a platform asked for, and a breaker."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from connectors.protocol import CompiledQuery, Estimate, Limits, Page, Prices, SearchFailed, Window
from connectors.simulated.connector import SimulatedConnector
from connectors.simulated.posts_file import PostsFile
from daemon.demo.day import DemoClock
from daemon.estimating import estimates
from daemon.fetching import count_posts, fetch_page, read_page
from daemon.service import Service
from daemon.store import connector_states, searches, spending
from daemon.store.outcomes import Failure
from domain.ids import WatchId
from domain.outcome import BudgetUsedUp, NotPermitted, RateLimited, Unavailable
from domain.post import Post
from domain.query import all_words_query
from models.retrieval.boolean import BooleanIndex
from tests.integration.conftest import NOW, MakeService

WEEK = Window(NOW - timedelta(days=7), NOW)
DOWN = Unavailable("the server answered 503")
QUERY = all_words_query(("water",), policy="test")


class Platform(SimulatedConnector):
    """Fails as long as it is told to."""

    def __init__(self) -> None:
        posts = (Post("x", "1", "tap water", NOW - timedelta(days=1)),)
        super().__init__("feed", BooleanIndex(), PostsFile(posts, ()))
        self.prices = Prices(post=5_000)
        self.failure: Failure | None = None
        self.asked = 0
        self.most: list[int | None] = []
        self.left_out: tuple[str, ...] = ()

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        self.asked += 1
        self.most.append(most)
        if self.failure:
            raise SearchFailed(self.failure)
        page = super().search(compiled, window, cursor, most=most)
        return replace(page, billed=("1", *self.left_out)) if self.left_out else page

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate:
        self.asked += 1
        if self.failure:
            raise SearchFailed(self.failure)
        return Estimate(None, None)


@pytest.fixture
def service(make_service: MakeService) -> Service:
    return make_service()


@pytest.fixture
def platform() -> Platform:
    return Platform()


def ask(service: Service, platform: Platform) -> Page | Failure:
    (compiled,) = platform.compile(QUERY)
    try:
        return fetch_page(service, platform, WatchId(1), compiled, WEEK, None, most=100).page
    except SearchFailed as exc:
        return exc.outcome


def wait(service: Service, step: timedelta) -> None:
    assert isinstance(service.clock, DemoClock)
    service.clock.now += step


@pytest.mark.parametrize(
    ("failure", "pause"),
    [
        (RateLimited(NOW + timedelta(minutes=14)), timedelta(minutes=14)),
        (BudgetUsedUp(NOW + timedelta(days=3)), timedelta(days=3)),
        (BudgetUsedUp(None), timedelta(hours=6)),
        (NotPermitted("check the token"), timedelta(hours=1)),
    ],
)
def test_what_one_request_learns_keeps_the_others_back_until_its_time(
    service: Service, platform: Platform, failure: Failure, pause: timedelta
) -> None:
    platform.failure = failure
    assert [ask(service, platform) for _ in range(3)] == [failure] * 3
    assert platform.asked == 1
    platform.failure = None
    wait(service, pause - timedelta(seconds=1))
    assert ask(service, platform) == failure
    wait(service, timedelta(seconds=1))
    assert isinstance(ask(service, platform), Page)


def test_a_single_failure_keeps_nobody_back(service: Service, platform: Platform) -> None:
    platform.failure = DOWN
    assert ask(service, platform) == DOWN
    platform.failure = None
    assert isinstance(ask(service, platform), Page)


def test_after_five_failures_in_a_row_the_connector_rests_ever_longer(service: Service, platform: Platform) -> None:
    platform.failure = DOWN
    for _ in range(7):
        ask(service, platform)
    assert platform.asked == 5
    wait(service, timedelta(minutes=5))
    ask(service, platform)
    assert platform.asked == 6
    wait(service, timedelta(minutes=9))
    ask(service, platform)
    assert platform.asked == 6, "twice as long as before"
    wait(service, timedelta(minutes=1))
    platform.failure = None
    assert isinstance(ask(service, platform), Page)
    platform.failure = DOWN
    ask(service, platform)
    ask(service, platform)
    assert platform.asked == 9, "an answer begins the count anew"


def test_no_request_leaves_without_budget_for_it(service: Service, platform: Platform) -> None:
    with service.database.connection() as conn:
        spending.set_cap(conn, "feed", "connector", "day", "posts", 0)
    assert ask(service, platform) == BudgetUsedUp(NOW.replace(hour=0) + timedelta(days=1))
    assert platform.asked == 0


def test_a_request_that_failed_gives_its_budget_back(service: Service, platform: Platform) -> None:
    with service.database.connection() as conn:
        spending.set_cap(conn, "feed", "connector", "day", "posts", 100)
    platform.failure = DOWN
    ask(service, platform)
    platform.failure = None
    assert isinstance(ask(service, platform), Page)


def test_one_claims_cap_leaves_the_connector_to_the_others(
    service: Service, platform: Platform, tmp_path: Path
) -> None:
    with service.database.connection() as conn:
        spending.set_cap(conn, "feed", "claim", "day", "posts", 100)
    assert isinstance(ask(service, platform), Page)  # a page is reserved, and stays so until it is stored
    assert isinstance(ask(service, platform), BudgetUsedUp)
    (compiled,) = platform.compile(QUERY)
    assert fetch_page(service, platform, WatchId(2), compiled, WEEK, None, most=100).page.posts


@pytest.mark.parametrize(("most", "asked"), [(7, 10), (40, 40), (500, 100)])
def test_a_page_is_no_larger_than_what_is_still_to_be_read(
    service: Service, platform: Platform, most: int, asked: int
) -> None:
    platform.limits = Limits(100, smallest_page=10)
    (compiled,) = platform.compile(QUERY)
    reservation = fetch_page(service, platform, WatchId(1), compiled, WEEK, None, most=most).reservation
    assert platform.most == [asked]
    assert reservation.posts == asked


def spent(service: Service, connector: str = "feed") -> tuple[int, int]:
    """Posts and micro-dollars of this day."""
    with service.database.connection() as conn:
        row = conn.execute(
            "SELECT posts, micro_dollars FROM spending WHERE connector = %s AND watch_id = 0 AND period = 'day'",
            [connector],
        ).fetchone()
    return (row[0], row[1]) if row else (0, 0)


def test_a_page_asked_for_by_hand_is_paid_for_with_all_that_came(service: Service, platform: Platform) -> None:
    platform.left_out = ("unread:1", "unread:2")
    (compiled,) = platform.compile(QUERY)
    assert len(read_page(service, platform, compiled, WEEK).posts) == 1
    assert spent(service) == (3, 15_000)


def test_a_count_that_failed_costs_nothing_and_one_that_came_stays_paid(service: Service, platform: Platform) -> None:
    platform.prices = Prices(estimate=5_000)
    (compiled,) = platform.compile(QUERY)
    platform.failure = DOWN
    with pytest.raises(SearchFailed):
        count_posts(service, platform, compiled, WEEK)
    assert spent(service) == (0, 0)
    platform.failure = None
    count_posts(service, platform, compiled, WEEK)
    assert spent(service) == (0, 5_000)


def test_a_count_heeds_the_pause_that_a_search_has_met(service: Service, platform: Platform) -> None:
    platform.failure = RateLimited(NOW + timedelta(minutes=14))
    ask(service, platform)
    (compiled,) = platform.compile(QUERY)
    with pytest.raises(SearchFailed, match="rate limited"):
        count_posts(service, platform, compiled, WEEK)
    assert platform.asked == 1


def test_where_a_platform_does_not_count_past_searches_stand_for_it(service: Service, platform: Platform) -> None:
    def found() -> list[tuple[int | None, str]]:
        return [(row.posts, row.note) for row in estimates(service, platform, [QUERY], WEEK)]

    assert found() == [(None, "")]
    with service.database.connection() as conn:
        fact_check = conn.execute("INSERT INTO fact_checks (claim) VALUES ('c') RETURNING id").fetchone()
        assert fact_check is not None
        watch = conn.execute(
            "INSERT INTO watches (fact_check_id, next_due, interval_s, why) VALUES (%s, now(), 60, '') RETURNING id",
            fact_check,
        ).fetchone()
        assert watch is not None
        query = searches.record_query(conn, WatchId(watch[0]), "feed", QUERY)
        for syntax, posts in [("other words", 10), ("water", 3), ("water", 4)]:
            conn.execute(
                "INSERT INTO searches (query_id, syntax, since, until, outcome, posts)"
                " VALUES (%s, %s, now(), now() + make_interval(secs => %s), 'found', %s)", [query, syntax, posts, posts]
            )  # fmt: skip
    assert found() == [(4, "what past searches brought")]


def test_a_failure_that_becomes_known_late_shortens_no_pause(service: Service) -> None:
    with service.database.connection() as conn:
        for hours in (3, 1):
            until = NOW + timedelta(hours=hours)
            connector_states.failed(conn, "feed", RateLimited(until), closed_until=until, now=NOW)
        state = connector_states.state(conn, "feed")
    assert state is not None
    assert state.closed_until == NOW + timedelta(hours=3)


def test_an_answer_to_an_earlier_request_ends_no_later_pause(service: Service) -> None:
    with service.database.connection() as conn:
        connector_states.failed(conn, "feed", DOWN, closed_until=NOW + timedelta(hours=1), now=NOW)
        connector_states.works(conn, "feed", asked_at=NOW - timedelta(seconds=3))
        assert connector_states.state(conn, "feed")
        connector_states.works(conn, "feed", asked_at=NOW)
        assert connector_states.state(conn, "feed") is None
