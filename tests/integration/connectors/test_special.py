"""What is special about one platform or another: odd records, logins, limits of their own."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from connectors.bluesky import login
from connectors.protocol import Connector, ConnectorContext, SearchFailed
from domain.errors import BadSetting
from domain.outcome import NotPermitted, RateLimited
from tests.integration.connectors import make
from tests.integration.connectors.platforms import PLATFORMS, Serve, Setup
from tests.replay.platforms import NOW, BlueskyServer, MastodonServer, RedditServer, XServer, said
from tests.replay.server import Answer, Request
from tests.unit.connectors.contract import all_posts

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


def test_a_bluesky_session_of_another_account_is_not_used(
    bluesky: tuple[BlueskyServer, str], context: ConnectorContext
) -> None:
    platform, url = bluesky
    for identifier in ("desk.example", "other.example"):
        connector = make.make_bluesky(url, context, identifier=identifier)
        first_page(connector)
        connector.close()
    assert platform.logins == 2


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


@pytest.mark.parametrize("retweets", ["false", "true"])
def test_odd_entries_beside_the_posts_of_x_fail_no_page(serve: Serve, context: ConnectorContext, retweets: str) -> None:
    posts = said(3)
    moment, shared = "2026-11-28T06:00:00.000Z", [{"type": "retweeted", "id": "9"}]
    good = {"id": "1", "text": posts[0].text, "created_at": moment, "author_id": "u"}
    retweet = good | {"id": "2", "referenced_tweets": shared}
    server = serve(XServer([]))
    odd: list[object] = [None, [], {"tweets": None}, {"tweets": [None, "x", {"text": "no id"}]}]
    for included in odd:
        body = {"data": [good, None, "x", retweet], "includes": included, "errors": ["odd", None, 3], "meta": {}}
        server.fail(Answer(body))
        connector = make.make_x(server.url, context, retweets=retweets)
        setup = Setup(server, connector, "")
        page = connector.search(setup.compiled, setup.window, None)
        assert [post.platform_id for post in page.posts] == ["1", "9"]
        assert len(page.notices) >= 5
        connector.close()


def test_x_bills_every_post_that_came_and_not_only_those_that_are_kept(serve: Serve, context: ConnectorContext) -> None:
    moment = "2026-11-28T06:00:00.000Z"
    good = {"id": "1", "text": "water is banned", "created_at": moment, "author_id": "u"}
    body = {
        "data": [
            good, {"id": "2", "created_at": "soon"}, good | {"id": "3", "created_at": "1999-01-01T00:00:00.000Z"},
            good | {"id": "4", "referenced_tweets": [{"type": "retweeted", "id": "5"}]}, {"text": "no id"}, "odd",
        ],
        "includes": {"tweets": [good | {"id": "5"}]},
        "meta": {"next_token": "T"},
    }  # fmt: skip
    server = serve(XServer([]))
    server.fail(Answer(body), times=3)
    connector = make.make_x(server.url, context, retweets="true")
    setup = Setup(server, connector, "")
    pages = [connector.search(setup.compiled, setup.window, None) for _ in range(2)]
    assert [post.platform_id for post in pages[0].posts] == ["1", "5"]
    assert set(pages[0].billed) > {"1", "2", "3", "4", "5"}
    assert len(pages[0].billed) == 7
    assert pages[0].billed == pages[1].billed, "a page that is asked for again is charged once a day"
    following = connector.search(setup.compiled, setup.window, pages[0].cursor)
    assert set(following.billed) & set(pages[0].billed) == {"1", "2", "3", "4", "5"}
    connector.close()


@pytest.mark.parametrize(("retweets", "asked"), [("false", "40"), ("true", "20")])
def test_a_page_of_x_with_its_originals_is_no_larger_than_allowed(
    serve: Serve, context: ConnectorContext, retweets: str, asked: str
) -> None:
    server = serve(XServer([]))
    server.fail(Answer({"data": [], "meta": {}}))
    connector = make.make_x(server.url, context, retweets=retweets)
    setup = Setup(server, connector, "")
    connector.search(setup.compiled, setup.window, None, most=40)
    assert server.requests[0].params["max_results"] == asked
    assert connector.limits.smallest_page == {"false": 10, "true": 20}[retweets]
    connector.close()


def test_mastodon_goes_on_after_a_short_page_and_ends_on_an_empty_one(serve: Serve, context: ConnectorContext) -> None:
    posts = said(60)
    platform = MastodonServer(posts)
    server = serve(platform)
    connector = make.make_mastodon(server.url, context)
    setup = Setup(server, connector, "")
    login = {"Authorization": "Bearer x"}
    body = platform(Request("GET", "/api/v2/search", {"q": setup.compiled.syntax, "limit": "40"}, login, b"")).body
    server.fail(Answer(body | {"statuses": body["statuses"][:37]}), path="search")
    found = all_posts(connector, setup.compiled)
    assert [post.platform_id for post in found] == [post.id for post in (*posts[:37], *posts[40:])]
    assert [request.params.get("offset") for request in server.asked("search")] == [None, "40", "80"]
    connector.close()


@pytest.mark.parametrize("answer", [{}, {"statuses": None}, {"statuses": {}}, {"statuses": 7}, [], None])
def test_an_answer_of_mastodon_without_statuses_is_none(
    serve: Serve, context: ConnectorContext, answer: object
) -> None:
    server = serve(MastodonServer(said(3)))
    server.fail(Answer(answer), path="search", times=3)
    connector = make.make_mastodon(server.url, context)
    with pytest.raises(SearchFailed, match="unavailable"):
        first_page(connector)
    connector.close()


def test_a_mastodon_server_that_is_busy_says_until_when(serve: Serve, context: ConnectorContext) -> None:
    server = serve(MastodonServer(said(3)))
    server.fail(Answer({"error": "busy"}, 503, {"Retry-After": "120"}), path="search")
    connector = make.make_mastodon(server.url, context)
    with pytest.raises(SearchFailed) as failed:
        first_page(connector)
    assert failed.value.outcome == RateLimited(NOW + timedelta(seconds=120))
    assert len(server.requests) == 1
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
