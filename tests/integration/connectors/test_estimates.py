"""What queries would bring and cost, before a post is read."""

from datetime import timedelta

import pytest

from connectors.protocol import ConnectorContext, Estimate, SearchFailed, Window
from daemon.estimating import estimates
from daemon.store import spending
from domain.query import all_words_query
from tests.integration.conftest import MakeService
from tests.integration.connectors import make
from tests.integration.connectors.platforms import Serve
from tests.replay.platforms import NOW, BlueskyServer, RedditServer, XServer, said
from tests.replay.server import Answer

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


def test_where_nobody_counts_one_request_tells_whether_a_search_would_be_answered(
    serve: Serve, context: ConnectorContext
) -> None:
    server = serve(RedditServer(said(130)))
    reddit = make.make_reddit(server.url, context)
    (compiled,) = reddit.compile(QUERY)
    assert reddit.estimate(compiled, WEEK) == Estimate(None, 0)
    assert [request.params["limit"] for request in server.asked("search")] == ["1"]
    server.fail(Answer({}, 403), path="search")
    with pytest.raises(SearchFailed, match="not permitted"):
        reddit.estimate(compiled, WEEK)
    reddit.close()


def test_an_attempt_that_fails_writes_nothing_into_the_answer_of_a_command(
    serve: Serve, context: ConnectorContext, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serve(BlueskyServer(said(3)))
    server.fail(Answer({}, 503), path="search")
    bluesky = make.make_bluesky(server.url, context)
    (compiled,) = bluesky.compile(QUERY)
    assert bluesky.estimate(compiled, WEEK).count == 3
    bluesky.close()
    assert capsys.readouterr().out == ""
