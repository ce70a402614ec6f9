"""Inputs that broke other tools, by the number under which they are kept; each with the right answer."""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import pytest

from connectors.protocol import CompiledQuery, Connector, ConnectorContext, SearchFailed, Window
from daemon import pipeline
from daemon.importing import import_file
from daemon.intake.reader import ReadOptions
from daemon.preparation import prepare
from daemon.service import Service
from daemon.store import searches
from domain.outcome import BudgetUsedUp, Found, RateLimited, Unavailable
from domain.query import EndpointKind, all_words_query, text_query
from tests.integration.conftest import MakeService
from tests.integration.connectors import make
from tests.integration.connectors.platforms import Serve
from tests.replay import grammars
from tests.replay.platforms import NOW, BlueskyServer, MastodonServer, RedditServer, Said, XServer, said
from tests.replay.server import Answer, ReplayServer
from tests.unit.connectors.contract import all_posts

WEEK = Window(NOW - timedelta(days=6), NOW)
LONG_AGO = Window(datetime(2000, 1, 1, tzinfo=UTC), NOW)
CLAIM = 'Fluoride AND lead: "banned" in 3 cities OR not? (map) -- see cdc:report #water @who'


@pytest.fixture
def closing() -> Iterator[list[Connector]]:
    connectors: list[Connector] = []
    yield connectors
    for connector in connectors:
        connector.close()


def compiled(connector: Connector, text: str = "water banned") -> CompiledQuery:
    boolean = connector.kind is EndpointKind.BOOLEAN
    return connector.compile(
        all_words_query(tuple(text.split()), policy="test")
        if boolean
        else text_query(connector.kind, text, policy="test")
    )[0]


def failure(connector: Connector, cursor: str | None = None) -> object:
    with pytest.raises(SearchFailed) as failed:
        connector.search(compiled(connector), WEEK, cursor)
    return failed.value.outcome


@pytest.fixture
def watched(make_service: MakeService, tmp_path: Path) -> Service:
    """A service that watches two claims, without a connector yet."""
    file = tmp_path / "checks.jsonl"
    rows = [
        {"url": f"https://fc.example/{name}", "claim": claim, "rating": "False"}
        for name, claim in {
            "water": "Tap water is banned in every city.",
            "owls": "Owls were elected to the senate.",
        }.items()
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    service = make_service()
    import_file(service, file, ReadOptions())
    prepare(service)
    return service


def search_all(service: Service, connector: Connector) -> None:
    service.connectors = {connector.name: connector}
    with service.database.connection() as conn:
        due = [row[0] for row in conn.execute("SELECT id FROM watches ORDER BY id").fetchall()]
    for watch in due:
        pipeline.search_watch(service, watch)


def rows(service: Service, statement: str) -> list[tuple[object, ...]]:
    with service.database.connection() as conn:
        return conn.execute(statement).fetchall()


# T01 · three answers that look alike


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer({}, 429, {"x-rate-limit-reset": "1795853640"}), RateLimited(datetime(2026, 11, 28, 8, 14, tzinfo=UTC))),
        (
            Answer({"title": "UsageCapExceeded", "type": "https://api.x.com/2/problems/usage-capped"}, 429),
            BudgetUsedUp(datetime(2026, 12, 1, tzinfo=UTC)),
        ),
        (Answer({"title": "CreditsDepleted"}, 402), BudgetUsedUp(None)),
    ],
)
def test_t01_limits_caps_and_credit_are_told_apart_and_asked_once(
    serve: Serve, context: ConnectorContext, watched: Service, answer: Answer, expected: RateLimited | BudgetUsedUp
) -> None:
    server = serve(XServer(said(3)))
    server.fail(answer, times=10)
    x = make.make_x(server.url, context)
    search_all(watched, x)
    assert len(server.requests) == 1, "the searches of the other claim were not sent"
    with watched.database.connection() as conn:
        told = searches.failures(conn, since=NOW - timedelta(days=1), until=NOW)
    assert {trouble.detail for trouble in told} == {str(expected)}
    assert rows(watched, "SELECT count(*) FROM searches WHERE outcome = 'found'") == [(0,)]
    if isinstance(expected, RateLimited):
        assert rows(watched, "SELECT DISTINCT next_due FROM watches") == [(expected.until,)]


# T02 · words that are operators

SET_UP = {
    "x": (XServer, make.make_x), "reddit": (RedditServer, make.make_reddit),
    "bluesky": (BlueskyServer, make.make_bluesky), "mastodon": (MastodonServer, make.make_mastodon),
}  # fmt: skip


@pytest.mark.parametrize("platform", list(SET_UP))
def test_t02_operators_that_stand_in_a_claim_are_words(
    platform: str, serve: Serve, context: ConnectorContext, closing: list[Connector]
) -> None:
    text = "fluoride and lead banned in 3 cities, map in the cdc report"
    answering, maker = SET_UP[platform]
    connector = maker(serve(answering([Said("1", text, NOW - timedelta(days=1))])).url, context)
    closing.append(connector)
    everything = compiled(connector, CLAIM)
    grammars.BY_PLATFORM[platform].parse(everything.syntax)
    trail = [str(edit) for edit in everything.query.trail]
    assert {"dropped --", 'quoted AND → "AND"', "took as words #water → water"} <= set(trail)
    found = connector.search(compiled(connector, 'Fluoride AND lead: "banned" (map)'), WEEK, None)
    assert [post.text for post in found.posts] == [text]


# T13 · a 403 that is no login failure


def test_t13_an_edge_that_forbids_the_second_page_is_no_refused_login(
    serve: Serve, context: ConnectorContext, watched: Service
) -> None:
    why = "edge blocked this host"
    platform = BlueskyServer(said(130, text="Tap water is banned in every city"))
    server = serve(platform)
    bluesky = make.make_bluesky(server.url, context)
    page = bluesky.search(compiled(bluesky), WEEK, None)
    server.fail(Answer("<html>Request forbidden by administrative rules</html>", 403), path="searchPosts")
    assert failure(bluesky, page.cursor) == Unavailable(why)
    assert platform.logins == 1
    patient = watched.settings.search.model_copy(update={"reads_per_query": 500})
    watched.settings = watched.settings.model_copy(update={"search": patient})
    watched.connectors = {"feed": cast(Connector, ForbiddenAfterOnePage(bluesky, server))}
    pipeline.search_watch(watched, 1)
    first = rows(watched, "SELECT cursor, posts, outcome, detail FROM searches ORDER BY id LIMIT 1")
    assert first == [("100", 100, "unavailable", f"unavailable: {why}")]
    bluesky.close()


def test_t13_without_a_login_the_first_page_is_the_last_and_says_so(
    serve: Serve, context: ConnectorContext, watched: Service, closing: list[Connector]
) -> None:
    why = "search without login gives one page only"
    server = serve(BlueskyServer(said(130, text="Tap water is banned in every city")))
    bluesky = make.make_bluesky(server.url, context, identifier="", app_password="")
    closing.append(bluesky)
    page = bluesky.search(compiled(bluesky), WEEK, None)
    assert (len(page.posts), page.cursor, page.incomplete) == (100, None, why)
    begun_with_a_login = bluesky.search(compiled(bluesky), WEEK, "100")
    assert (begun_with_a_login.posts, begun_with_a_login.cursor, begun_with_a_login.incomplete) == ((), None, why)
    assert len(server.asked("searchPosts")) == 1
    search_all(watched, bluesky)
    first = rows(watched, "SELECT posts, outcome, incomplete FROM searches ORDER BY id LIMIT 1")
    assert first == [(100, "found", why)]


def test_t13_a_search_without_a_login_that_ends_on_one_page_is_complete(
    serve: Serve, context: ConnectorContext, closing: list[Connector]
) -> None:
    bluesky = make.make_bluesky(serve(BlueskyServer(said(3))).url, context, identifier="", app_password="")
    closing.append(bluesky)
    page = bluesky.search(compiled(bluesky), WEEK, None)
    assert (len(page.posts), page.cursor, page.incomplete) == (3, None, "")


class ForbiddenAfterOnePage:
    """The edge forbids each further page of the real connector."""

    def __init__(self, inner: Connector, server: ReplayServer) -> None:
        self._inner, self._server = inner, server

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def search(self, query: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> object:
        if cursor:
            self._server.fail(Answer("<html>Request forbidden by administrative rules</html>", 403), path="searchPosts")
        return self._inner.search(query, window, cursor, most=most)


# T16 · an empty page in the middle, a cursor that does not move


def tweets(*numbers: int) -> list[dict[str, object]]:
    moment = "2026-11-28T06:00:00.000Z"
    return [{"id": str(n), "text": f"tap water is banned {n}", "created_at": moment, "author_id": "u"} for n in numbers]


def test_t16_an_empty_page_is_not_the_end(serve: Serve, context: ConnectorContext, closing: list[Connector]) -> None:
    server = serve(XServer([]))
    for body in (
        {"data": tweets(*range(100)), "meta": {"next_token": "A"}},
        {"meta": {"next_token": "B"}},
        {"data": tweets(*range(100, 104)), "meta": {}},
    ):
        server.fail(Answer(body))
    x = make.make_x(server.url, context)
    closing.append(x)
    assert len(all_posts(x, compiled(x), WEEK)) == 104


def test_t16_a_cursor_that_does_not_move_ends_the_search_and_is_charged_once(
    serve: Serve, context: ConnectorContext, watched: Service, closing: list[Connector]
) -> None:
    server = serve(XServer([]))
    server.fail(Answer({"data": tweets(*range(20)), "meta": {"next_token": "C"}}), path="search/recent", times=2)
    x = make.make_x(server.url, context)
    closing.append(x)
    watched.connectors = {"feed": x}
    pipeline.search_watch(watched, 1)
    first = rows(watched, "SELECT posts, spent, outcome, incomplete <> '' FROM searches ORDER BY id LIMIT 1")
    assert first == [(20, 100_000, "found", True)]
    assert rows(watched, "SELECT posts FROM spending WHERE watch_id = 0 AND period = 'day'") == [(20,)]
    assert len([r for r in server.requests if r.params.get("next_token") == "C"]) == 1


# T17 · the cut text


def test_t17_the_whole_text_of_the_original_and_of_a_note_is_read(
    serve: Serve, context: ConnectorContext, closing: list[Connector]
) -> None:
    whole = "x" * 150 + " the claim stands at the very end of it: tap water is banned"
    note = "word " * 375 + "tap water is banned"
    moment = "2026-11-28T06:00:00.000Z"
    body = {
        "data": [
            {"id": "2", "text": "RT @a: " + whole[:132] + "…", "created_at": moment, "author_id": "u",
             "referenced_tweets": [{"type": "retweeted", "id": "1"}]},
            {"id": "3", "text": note[:270] + "…", "note_tweet": {"text": note}, "created_at": moment, "author_id": "u"},
        ],
        "includes": {"tweets": [{"id": "1", "text": whole, "created_at": moment, "author_id": "v"}]},
        "meta": {},
    }  # fmt: skip
    server = serve(XServer([]))
    server.fail(Answer(body))
    x = make.make_x(server.url, context, retweets="true")
    closing.append(x)
    found = {post.platform_id: post.text for post in x.search(compiled(x), WEEK, None).posts}
    assert found == {"1": whole, "3": note}
    assert "note_tweet" in server.requests[0].params["tweet.fields"]


# T20 · removed, deleted, nobody


def test_t20_removed_posts_are_purged_and_a_post_of_nobody_is_kept(
    serve: Serve, context: ConnectorContext, watched: Service, closing: list[Connector]
) -> None:
    posts = said(3, text="Tap water is banned in every city")
    platform = RedditServer(posts)
    server = serve(platform)
    reddit = make.make_reddit(server.url, context)
    closing.append(reddit)
    watched.connectors = {"feed": reddit}
    pipeline.search_watch(watched, 1)
    assert rows(watched, "SELECT count(*) FROM posts WHERE gone_at IS NULL AND author IS NOT NULL") == [(3,)]
    assert rows(watched, "SELECT count(*) FROM matches") == [(3,)]
    changes: list[dict[str, object]] = [
        {"selftext": "[removed]", "author": None, "removed_by_category": "moderator"},
        {"selftext": "[deleted]"},
        {"selftext": "text", "author": None},
    ]
    platform.posts = [replace(post, extra=extra) for post, extra in zip(posts, changes, strict=True)]
    with watched.database.connection() as conn:
        conn.execute("UPDATE watches SET next_due = now() - interval '1 year'")
        conn.execute("DELETE FROM watch_progress")
        conn.execute("DELETE FROM searches")
    pipeline.search_watch(watched, 1)
    left = rows(watched, "SELECT platform_id, text <> '', author, gone_at IS NULL FROM posts ORDER BY platform_id DESC")
    assert left == [("3", False, None, False), ("2", False, None, False), ("1", True, None, True)]
    assert rows(watched, "SELECT p.platform_id FROM matches m JOIN posts p ON p.id = m.post_id") == [("1",)]
    assert not [request for request in server.requests if "/user/" in request.path], "no request per author"


# T26 · money and tickers


@pytest.mark.parametrize("claim", ["$5 million for $TSLA and 100% of $voters", "$ETH"])
def test_t26_money_and_tickers_are_words(
    serve: Serve, context: ConnectorContext, closing: list[Connector], claim: str
) -> None:
    x = make.make_x(serve(XServer([])).url, context)
    closing.append(x)
    syntax = compiled(x, claim).syntax
    grammars.X.parse(syntax)
    assert "$" not in syntax
    assert "%" not in syntax
    for word in claim.replace("$", "").replace("%", "").split():
        assert word in syntax


# T31 · the link is not in the text


def test_t31_full_links_come_from_facets_and_cards_and_pictures_say_what_they_are(
    serve: Serve, context: ConnectorContext, closing: list[Connector]
) -> None:
    facet = {"index": {"byteStart": 9, "byteEnd": 26}, "features": [
        {"$type": "app.bsky.richtext.facet#link", "uri": "https://fc.example/a/42?x=1"}]}  # fmt: skip
    record = {
        "text": "💧 see fc.example/a/4...", "facets": [facet], "createdAt": "2026-11-28T06:00:00.000Z",
        "embed": {"$type": "app.bsky.embed.recordWithMedia", "media": {
            "external": {"uri": "https://news.example/b"}, "images": [{"alt": "Water is banned"}]}},
    }  # fmt: skip
    view = {"uri": "at://did:plc:a/app.bsky.feed.post/1", "author": {"did": "did:plc:a"}, "record": record,
            "indexedAt": "2026-11-28T06:00:00.000Z"}  # fmt: skip
    odd = {"uri": "at://did:plc:a/app.bsky.feed.post/2", "author": {"did": "did:plc:a"}, "record": {"embed": 3}}
    server = serve(BlueskyServer([]))
    server.fail(Answer({"posts": [odd, view]}), path="searchPosts")
    bluesky = make.make_bluesky(server.url, context)
    closing.append(bluesky)
    page = bluesky.search(compiled(bluesky), WEEK, None)
    (post,) = page.posts
    assert post.links == ("https://fc.example/a/42?x=1", "https://news.example/b")
    assert post.text == "💧 see fc.example/a/4...\n[picture: Water is banned]"
    assert len(page.notices) == 1, "one odd record does not fail the page"


# T32 · words glued together


def test_t32_paragraphs_breaks_and_hidden_halves_keep_words_apart(
    serve: Serve, context: ConnectorContext, closing: list[Connector]
) -> None:
    content = (
        "<p>Water banned</p><p>in Zurich<br />now</p><p><a href=\"https://fc.example/a/42\"><span class=\"invisible\">"
        "https://</span><span class=\"ellipsis\">fc.example/a</span><span class=\"invisible\">/42</span></a> "
        "<a class=\"mention hashtag\" href=\"https://m.example/tags/water\">#<span>water</span></a></p>"
    )  # fmt: skip
    post = Said("1", "water banned", NOW - timedelta(hours=1), extra={"content": content})
    mastodon = make.make_mastodon(serve(MastodonServer([post])).url, context)
    closing.append(mastodon)
    (read,) = mastodon.search(compiled(mastodon), WEEK, None).posts
    assert read.text == "Water banned\n\nin Zurich\nnow\n\nhttps://fc.example/a/42 #water"
    assert read.links == ("https://fc.example/a/42",)


def test_t32_entities_are_decoded_once(serve: Serve, context: ConnectorContext, closing: list[Connector]) -> None:
    server = serve(XServer([]))
    tweet = tweets(1)[0] | {"text": "5 &lt; 6 &amp;amp; done"}
    server.fail(Answer({"data": [tweet], "meta": {}}))
    x = make.make_x(server.url, context)
    closing.append(x)
    assert x.search(compiled(x), WEEK, None).posts[0].text == "5 < 6 &amp; done"


# T38 · windows


def test_t38_recent_search_is_asked_for_what_it_covers_and_says_what_is_missing(
    serve: Serve, context: ConnectorContext, closing: list[Connector]
) -> None:
    server = serve(XServer(said(3)))
    x = make.make_x(server.url, context)
    closing.append(x)
    page = x.search(compiled(x), Window(NOW - timedelta(days=8), NOW), None)
    assert page.notices == ("1 day not covered: recent search reaches back seven days",)
    asked = server.requests[0].params
    assert datetime.fromisoformat(asked["start_time"]) == NOW - timedelta(days=7) + timedelta(minutes=1)
    assert datetime.fromisoformat(asked["end_time"]) == NOW - timedelta(seconds=15)


@pytest.mark.parametrize("part", [1, 400_000, 999_999])
def test_t38_the_end_is_ten_seconds_away_whatever_the_part_of_a_second(
    serve: Serve, context: ConnectorContext, closing: list[Connector], part: int
) -> None:
    now = NOW + timedelta(microseconds=part)
    server = serve(XServer(said(3), now=now))
    x = make.make_x(server.url, replace(context, clock=lambda: now))
    closing.append(x)
    assert len(x.search(compiled(x), Window(NOW - timedelta(days=6), now), None).posts) == 3
    assert now - datetime.fromisoformat(server.requests[0].params["end_time"]) >= timedelta(seconds=10)


def test_t38_a_search_that_goes_on_later_is_asked_for_what_is_still_covered(
    serve: Serve, context: ConnectorContext, closing: list[Connector]
) -> None:
    now = NOW
    platform = XServer(said(130))
    server = serve(platform)
    x = make.make_x(server.url, replace(context, clock=lambda: now))
    closing.append(x)
    window = Window(NOW - timedelta(days=7), NOW)
    cursor = x.search(compiled(x), window, None).cursor
    begun = server.requests[-1].params
    x.search(compiled(x), window, cursor)
    assert server.requests[-1].params["start_time"] == begun["start_time"], "the same window for the pages of a search"
    now = platform.now = NOW + timedelta(hours=5)
    assert x.search(compiled(x), window, cursor).posts
    asked = server.requests[-1].params
    assert datetime.fromisoformat(asked["start_time"]) == now - timedelta(days=7) + timedelta(minutes=1)
    assert asked["end_time"] == begun["end_time"]
    now = platform.now = NOW + timedelta(days=8)
    late, asked_so_far = x.search(compiled(x), window, cursor), len(server.requests)
    assert (late.posts, late.cursor) == ((), None)
    assert "seven days" in late.incomplete
    assert len(server.requests) == asked_so_far == 3


def test_t38_a_day_is_its_24_hours(serve: Serve, context: ConnectorContext, closing: list[Connector]) -> None:
    moments = ["2026-11-27T00:00:00", "2026-11-27T23:59:59", "2026-11-28T00:00:00"]
    posts = [Said(str(i), "water banned", datetime.fromisoformat(m).replace(tzinfo=UTC)) for i, m in enumerate(moments)]
    x = make.make_x(serve(XServer(posts)).url, context)
    closing.append(x)
    day = Window(datetime(2026, 11, 27, tzinfo=UTC), datetime(2026, 11, 28, tzinfo=UTC))
    assert {post.platform_id for post in all_posts(x, compiled(x), day)} == {"0", "1"}


# T49 · bare dates


def test_t49_moments_are_sent_whole_and_a_refused_one_is_never_no_posts(
    serve: Serve, context: ConnectorContext, closing: list[Connector]
) -> None:
    server = serve(BlueskyServer(said(3)))
    bluesky = make.make_bluesky(server.url, context)
    closing.append(bluesky)
    day = Window(datetime(2026, 11, 27, tzinfo=UTC), datetime(2026, 11, 28, tzinfo=UTC))
    bluesky.search(compiled(bluesky), day, None)
    assert server.asked("searchPosts")[0].params["since"] == "2026-11-27T00:00:00.000Z"
    server.fail(Answer({"error": "InvalidRequest", "message": "invalid since"}, 400), path="searchPosts")
    refused = failure(bluesky)
    assert isinstance(refused, Unavailable)
    assert "water banned" in refused.why


# T50 · at most a thousand


def test_t50_a_listing_that_ends_at_its_thousand_is_incomplete(
    serve: Serve, context: ConnectorContext, closing: list[Connector]
) -> None:
    reddit = make.make_reddit(serve(RedditServer(said(2400, every=timedelta(minutes=5)))).url, context)
    closing.append(reddit)
    page = reddit.search(compiled(reddit), LONG_AGO, None)
    assert "submissions only" in page.notices[0]
    read = len(page.posts)
    while page.cursor:
        page = reddit.search(compiled(reddit), LONG_AGO, page.cursor)
        read += len(page.posts)
    assert read == 1000
    assert "1,000 submissions" in page.incomplete


def test_t50_quotes_fields_and_length_do_no_harm(
    serve: Serve, context: ConnectorContext, closing: list[Connector]
) -> None:
    reddit = make.make_reddit(serve(RedditServer([])).url, context)
    closing.append(reddit)
    long = compiled(reddit, 'he said "never" title:water ' + " ".join(f"word{i}" for i in range(80)))
    grammars.REDDIT.parse(long.syntax)
    assert len(long.syntax) <= 512
    assert any("the query is too long" in str(edit) for edit in long.query.trail)


# T47 · secrets in the log


@pytest.mark.parametrize("status", [401, 500])
def test_t47_no_secret_stands_in_logs_errors_or_tracebacks(
    serve: Serve, context: ConnectorContext, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    from daemon.logs import Redacting

    caplog.handler.addFilter(Redacting())
    caplog.set_level(logging.DEBUG)
    makers = [make.make_x, make.make_reddit, make.make_bluesky, make.make_mastodon, make.make_elasticsearch]
    told = ""
    for maker in makers:
        server = serve(lambda request: Answer({"error": "no"}, status))
        connector = maker(server.url, context)
        with pytest.raises(SearchFailed) as failed:
            connector.search(compiled(connector), WEEK, None)
        told += f"{failed.getrepr(showlocals=False, chain=True)}{failed.value!r}"
        connector.close()
    for text in (told, caplog.text):
        assert make.SECRET not in text
        assert "Basic " not in text
    assert "127.0.0.1" in caplog.text, "the host is still shown"


def test_found_says_why_it_is_incomplete() -> None:
    assert str(Found(20, "the cursor stood still")) == "found 20, incomplete: the cursor stood still"
