"""What is special about one platform or another: odd records, logins, limits of their own."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from connectors.bluesky import login
from connectors.protocol import Connector, ConnectorContext, SearchFailed
from domain.errors import BadSetting
from domain.outcome import NotPermitted, RateLimited, Unavailable
from tests.integration.connectors import make
from tests.integration.connectors.platforms import PLATFORMS, Serve, Setup
from tests.replay.platforms import NOW, BlueskyServer, MastodonServer, RedditServer, XServer, said
from tests.replay.server import Answer, Request

ODD: list[dict[str, object]] = [
    {"created_at": "not a date", "created_utc": "soon", "indexedAt": "yesterday"},
    {
        "text": None,
        "content": None,
        "title": 7,
        "record": "none",
        "account": None,
        "created_at": None,
        "created_utc": None,
    },
]


SERVERS = {
    "x": (XServer, make.make_x), "reddit": (RedditServer, make.make_reddit),
    "mastodon": (MastodonServer, make.make_mastodon),
}  # fmt: skip


@pytest.mark.parametrize("platform", list(SERVERS))
def test_an_odd_record_is_a_notice_and_the_others_are_read(
    platform: str, serve: Serve, context: ConnectorContext
) -> None:
    posts = said(5)
    spoilt = [replace(post, extra=ODD[i // 2]) if i in {1, 3} else post for i, post in enumerate(posts)]
    answering, maker = SERVERS[platform]
    connector = maker(serve(answering(spoilt)).url, context)
    setup = Setup(None, connector, "")  # type: ignore[arg-type]
    page = connector.search(setup.compiled, setup.window, None)
    assert {post.platform_id for post in page.posts} >= {posts[0].id, posts[2].id, posts[4].id}
    assert any("left out" in notice for notice in page.notices)
    connector.close()


@pytest.fixture
def bluesky(serve: Serve) -> tuple[BlueskyServer, str]:
    platform = BlueskyServer(said(130))
    return platform, serve(platform).url


def first_page(connector: Connector) -> int:
    setup = Setup(None, connector, "")  # type: ignore[arg-type]
    return len(connector.search(setup.compiled, setup.window, None).posts)


def test_a_bluesky_session_is_kept_and_used_by_the_next_process(
    bluesky: tuple[BlueskyServer, str], context: ConnectorContext
) -> None:
    platform, url = bluesky
    for _ in range(3):
        connector = make.make_bluesky(url, context)
        assert first_page(connector) == 100
        connector.close()
    assert platform.logins == 1
    kept = context.folder / "bluesky-feed.session"
    assert kept.stat().st_mode & 0o077 == 0, "readable by its owner alone"


def test_an_expired_bluesky_session_is_renewed_once(serve: Serve, context: ConnectorContext) -> None:
    platform = BlueskyServer(said(130))
    server = serve(platform)
    connector = make.make_bluesky(server.url, context)
    first_page(connector)
    server.fail(Answer({"error": "ExpiredToken", "message": "Token has expired"}, 400), path="searchPosts")
    assert first_page(connector) == 100
    assert platform.logins == 2
    connector.close()


def test_a_refused_bluesky_login_is_not_permitted(serve: Serve, context: ConnectorContext) -> None:
    server = serve(BlueskyServer(said(3)))
    server.fail(Answer({"error": "AuthenticationRequired", "message": "Invalid password"}, 401), path="createSession")
    connector = make.make_bluesky(server.url, context)
    with pytest.raises(SearchFailed) as failed:
        first_page(connector)
    assert isinstance(failed.value.outcome, NotPermitted)
    connector.close()


def test_bluesky_logins_stop_long_before_the_servers_limit(
    serve: Serve, context: ConnectorContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "_LOGINS_A_DAY", 2)
    platform = BlueskyServer(said(3))
    url = serve(platform).url
    for number in range(3):
        (context.folder / "bluesky-feed.session").unlink(missing_ok=True)
        connector = make.make_bluesky(url, context)
        if number < 2:
            first_page(connector)
        else:
            with pytest.raises(SearchFailed) as failed:
                first_page(connector)
            assert failed.value.outcome == RateLimited(NOW + timedelta(days=1))
        connector.close()
    assert platform.logins == 2


def test_reddit_does_not_sleep_in_a_worker_until_its_limit_is_reset(serve: Serve, context: ConnectorContext) -> None:
    platform = RedditServer(said(130))

    def nearly_used_up(request: Request) -> Answer:
        answer = platform(request)
        used_up = {"x-ratelimit-remaining": "0", "x-ratelimit-used": "100", "x-ratelimit-reset": "400"}
        return replace(answer, headers=used_up) if "/search" in request.path else answer

    server = serve(nearly_used_up)
    connector = make.make_reddit(server.url, context)
    assert first_page(connector) == 100
    with pytest.raises(SearchFailed) as failed:
        first_page(connector)
    limited = failed.value.outcome
    assert isinstance(limited, RateLimited)
    assert timedelta(seconds=380) < limited.until - NOW < timedelta(seconds=410)
    assert len(server.asked("/search")) == 1
    connector.close()


def test_mastodon_without_a_token_is_not_permitted_and_asks_nothing(serve: Serve, context: ConnectorContext) -> None:
    server = serve(MastodonServer(said(3)))
    connector = make.make_mastodon(server.url, context, access_token="")
    with pytest.raises(SearchFailed) as failed:
        first_page(connector)
    assert isinstance(failed.value.outcome, NotPermitted)
    assert "access_token" in failed.value.outcome.why
    assert server.requests == []
    connector.close()


def test_a_partial_error_of_x_is_a_notice(serve: Serve, context: ConnectorContext) -> None:
    server = serve(XServer([]))
    body = {"data": [], "errors": [{"title": "Not Found Error", "detail": "Could not find tweet 7"}], "meta": {}}
    server.fail(Answer(body))
    connector = make.make_x(server.url, context)
    setup = Setup(server, connector, "")
    page = connector.search(setup.compiled, setup.window, None)
    assert "X: Could not find tweet 7" in page.notices
    connector.close()


def test_a_compliance_job_that_fails_purges_nothing(serve: Serve, context: ConnectorContext) -> None:
    def failing(request: Request) -> Answer:
        if request.path == "/upload":
            return Answer(b"")
        return Answer(
            {"data": {"id": "7", "status": "failed", "upload_url": f"{server.url}/upload", "download_url": "-"}}
        )

    server = serve(failing)
    connector = make.make_x(server.url, context)
    with pytest.raises(SearchFailed) as failed:
        connector.gone(["1"])
    assert isinstance(failed.value.outcome, Unavailable)
    connector.close()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_missing_option_is_named_without_showing_the_others(
    platform: str, tmp_path: Path, context: ConnectorContext
) -> None:
    from importlib import import_module

    build = import_module(f"connectors.{platform}.connector").build
    with pytest.raises(BadSetting, match=r"^connectors\.feed\.options\.") as refused:
        build({"no_such_option": make.SECRET}, context)
    assert make.SECRET not in str(refused.value)
