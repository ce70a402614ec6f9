"""What each connector makes of faults: one of four outcomes, never "no posts", and no more requests than sense."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import requests
from mastodon import Mastodon

from connectors import asking
from connectors.protocol import ConnectorContext, SearchFailed
from domain.outcome import BudgetUsedUp, NotPermitted, RateLimited, Unavailable
from tests.integration.connectors.platforms import PLATFORMS, Serve, Setup, set_up
from tests.replay.platforms import NOW
from tests.replay.server import Answer


@pytest.fixture(params=PLATFORMS)
def setup(request: pytest.FixtureRequest, serve: Serve, context: ConnectorContext) -> Iterator[Setup]:
    made = set_up(request.param, serve, context)
    yield made
    made.connector.close()


def outcome(setup: Setup) -> RateLimited | BudgetUsedUp | NotPermitted | Unavailable:
    with pytest.raises(SearchFailed) as failed:
        setup.connector.search(setup.compiled, setup.window, None)
    return failed.value.outcome


def asked(setup: Setup) -> int:
    return len(setup.server.asked(setup.searches))


def test_a_short_failure_is_got_over(setup: Setup) -> None:
    setup.server.fail(Answer({"error": "x"}, 503), path=setup.searches)
    assert len(setup.ids()) >= 40
    assert asked(setup) == 2


def test_a_lasting_failure_is_unavailable_after_three_attempts(setup: Setup) -> None:
    setup.server.fail(Answer({"error": "x"}, 502), path=setup.searches, times=3)
    assert isinstance(outcome(setup), Unavailable)
    assert asked(setup) == 3


def test_a_429_is_rate_limited_until_the_moment_that_is_named_and_asked_once(setup: Setup) -> None:
    setup.server.fail(Answer({"error": "x"}, 429, {"Retry-After": "120", **reset(120)}), path=setup.searches)
    limited = outcome(setup)
    assert isinstance(limited, RateLimited)
    assert timedelta(seconds=110) <= limited.until - NOW <= timedelta(seconds=130)
    assert asked(setup) == 1


def reset(seconds: int) -> dict[str, str]:
    """The header by which X, Reddit and Mastodon say the same, each in its own way."""
    moment = NOW + timedelta(seconds=seconds)
    return {"x-ratelimit-remaining": "0", "x-ratelimit-used": "100", "x-ratelimit-reset": str(seconds),
            "x-rate-limit-reset": f"{moment.timestamp():.0f}"}  # fmt: skip


def test_a_429_that_does_not_say_how_long_is_rate_limited_all_the_same(setup: Setup) -> None:
    setup.server.fail(Answer({"error": "x"}, 429), path=setup.searches)
    limited = outcome(setup)
    assert isinstance(limited, RateLimited)
    assert limited.until > NOW


def test_a_refused_login_is_not_permitted_and_says_what_to_do(setup: Setup) -> None:
    setup.server.fail(Answer({"error": "AuthenticationRequired", "message": "no"}, 401), path=setup.searches, times=3)
    refused = outcome(setup)
    assert isinstance(refused, NotPermitted)
    assert "check" in refused.why


def test_an_answer_that_is_cut_is_unavailable(setup: Setup) -> None:
    setup.server.fail(Answer({"data": ["x" * 5000]}, cut=True), path=setup.searches, times=3)
    assert isinstance(outcome(setup), Unavailable)


def test_an_answer_that_is_no_json_is_unavailable(setup: Setup) -> None:
    setup.server.fail(Answer("<html>Welcome to the hotel's network</html>"), path=setup.searches, times=3)
    assert isinstance(outcome(setup), Unavailable)


def test_a_slow_answer_is_given_up(setup: Setup, monkeypatch: pytest.MonkeyPatch, context: ConnectorContext) -> None:
    shorten_time_outs(setup, monkeypatch)
    setup.server.fail(Answer({}, delay_s=1.0), path=setup.searches, times=3)
    assert isinstance(outcome(setup), Unavailable)


def shorten_time_outs(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each client's own time-out, made short on the object that it was set on."""
    send = requests.Session.send
    monkeypatch.setattr(
        requests.Session, "send", lambda self, request, **given: send(self, request, **given | {"timeout": (0.3, 0.3)})
    )
    client = getattr(setup.connector, "_client", None)
    if isinstance(client, Mastodon):
        client.request_timeout = 0.3
    if setup.searches == "_search":
        monkeypatch.setattr(setup.connector, "_client", client.options(request_timeout=0.3))  # type: ignore[union-attr]
    if setup.searches == "searchPosts":
        setup.connector._login._client.request._client.timeout = 0.3  # type: ignore[attr-defined]


def test_an_unknown_refusal_shows_the_query_and_is_never_no_posts(setup: Setup) -> None:
    setup.server.fail(Answer({"error": "BadQueryString", "message": "what?"}, 400), path=setup.searches, times=3)
    refused = outcome(setup)
    assert isinstance(refused, Unavailable)
    assert "400" in refused.why


def test_a_server_that_is_not_there_is_unavailable(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    setup.server.fail(Answer(b"", 200, {"Connection": "close"}, cut=True), path=setup.searches, times=3)
    assert isinstance(outcome(setup), Unavailable)


def test_a_wait_is_never_longer_than_the_attempts_together(setup: Setup) -> None:
    assert asking.ATTEMPTS * sum(asking.TIMEOUT_S) < 100  # a worker's job is taken for dead after that at the earliest
