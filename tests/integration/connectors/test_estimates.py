"""What queries would bring and cost, before a post is read."""

from datetime import timedelta

from connectors.protocol import ConnectorContext, Window
from daemon.estimating import estimates
from daemon.store import spending
from domain.query import all_words_query
from tests.integration.conftest import MakeService
from tests.integration.connectors import make
from tests.integration.connectors.platforms import Serve
from tests.replay.platforms import NOW, BlueskyServer, XServer, said

WEEK = Window(NOW - timedelta(days=6), NOW)
QUERY = all_words_query(("water", "banned"), policy="test")


def test_a_paid_count_is_priced_paid_from_the_budget_and_refused_without_it(
    make_service: MakeService, serve: Serve, context: ConnectorContext
) -> None:
    service = make_service()
    server = serve(XServer(said(130)))
    x = make.make_x(server.url, context)
    service.connectors = {"feed": x}
    with service.database.connection() as conn:
        spending.set_cap(conn, "feed", "connector", "month", "micro_dollars", 9_000)
    first, second = [row for _ in range(2) for row in estimates(service, x, [QUERY], WEEK)]
    assert (first.posts_text, first.cost_text, first.note) == ("130", "$0.65", "counting cost $0.005")
    assert (second.posts, second.note) == (None, "budget used up until 2026-12-01")
    assert len(server.requests) == 1
    with service.database.connection() as conn:
        assert spending.allowed(conn, x, now=NOW) == "$0.00 left this month"


def test_a_free_count_is_taken_where_the_platform_gives_one(
    make_service: MakeService, serve: Serve, context: ConnectorContext
) -> None:
    service = make_service()
    bluesky = make.make_bluesky(serve(BlueskyServer(said(130))).url, context)
    service.connectors = {"feed": bluesky}
    (row,) = estimates(service, bluesky, [QUERY], WEEK)
    assert (row.posts, row.cost, row.note) == (130, 0, "")
    bluesky.close()
    with service.database.connection() as conn:
        assert spending.allowed(conn, bluesky, now=NOW) == "no cap is set"
