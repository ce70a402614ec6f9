"""Who may ask a platform, and when: caps, pauses that a platform asked for, and a breaker."""

from datetime import timedelta
from pathlib import Path

import pytest

from connectors.protocol import CompiledQuery, Page, Prices, SearchFailed, Window
from connectors.simulated.connector import SimulatedConnector
from connectors.simulated.posts_file import PostsFile
from daemon.demo.day import DemoClock
from daemon.fetching import fetch_page
from daemon.service import Service
from daemon.store import spending
from daemon.store.outcomes import Failure
from domain.ids import WatchId
from domain.outcome import BudgetUsedUp, NotPermitted, RateLimited, Unavailable
from domain.post import Post
from domain.query import all_words_query
from models.retrieval.boolean import BooleanIndex
from tests.integration.conftest import NOW, MakeService

WEEK = Window(NOW - timedelta(days=7), NOW)
DOWN = Unavailable("the server answered 503")


class Platform(SimulatedConnector):
    """Fails as long as it is told to."""

    def __init__(self) -> None:
        posts = (Post("x", "1", "tap water", NOW - timedelta(days=1)),)
        super().__init__("feed", BooleanIndex(), PostsFile(posts, ()))
        self.prices = Prices(post=5_000)
        self.failure: Failure | None = None
        self.asked = 0

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        self.asked += 1
        if self.failure:
            raise SearchFailed(self.failure)
        return super().search(compiled, window, cursor, most=most)


@pytest.fixture
def service(make_service: MakeService) -> Service:
    return make_service()


@pytest.fixture
def platform() -> Platform:
    return Platform()


def ask(service: Service, platform: Platform) -> Page | Failure:
    (compiled,) = platform.compile(all_words_query(("water",), policy="test"))
    try:
        return fetch_page(service, platform, WatchId(1), compiled, WEEK, None).page
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
    (compiled,) = platform.compile(all_words_query(("water",), policy="test"))
    assert fetch_page(service, platform, WatchId(2), compiled, WEEK, None).page.posts
