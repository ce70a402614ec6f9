"""An answer that does not say which posts are there never lets any go: what is purged is not taken in again."""

from dataclasses import replace

import pytest

from connectors.protocol import ConnectorContext, SearchFailed
from domain.outcome import Unavailable
from tests.integration.connectors import make
from tests.integration.connectors.platforms import Serve, Setup, set_up
from tests.replay.platforms import ElasticsearchServer, RedditServer, said
from tests.replay.server import Answer

_NO_INDEX = {"type": "index_not_found_exception", "reason": "no such index [claimwatch-posts]"}
_SHARD_DOWN = {"type": "no_shard_available_action_exception", "reason": "no shard available"}
ODD_ANSWERS: dict[str, tuple[str, list[object]]] = {
    "elasticsearch": ("_mget", [
        {}, {"docs": None}, {"docs": [None]}, {"docs": ["1"]}, {"docs": [{"_id": "1"}]}, {"docs": [{"found": False}]},
        {"docs": [{"_id": "1", "error": _SHARD_DOWN}]}, {"docs": [{"_id": "1", "found": False, "error": _SHARD_DOWN}]},
        {"docs": [{"_index": "claimwatch-posts", "_id": "1", "error": _NO_INDEX}]},
    ]),
    "bluesky": ("getPosts", [{}, {"posts": None}, {"posts": {}}, {"posts": [None]}, {"posts": ["at://x"]},
                             {"posts": [{"cid": "bafy"}]}, []]),
    "mastodon": ("statuses", [{}, None, 7, [None], ["1"], [{"uri": "x"}], [[]]]),
    "reddit": ("api/info", [
        {}, [], {"data": None}, {"data": {"children": None}}, {"data": {"children": [None]}},
        {"data": {"children": [{"kind": "t3"}]}}, {"data": {"children": [{"data": [1]}]}},
        {"data": {"children": [{"data": {"title": "no id"}}]}},
    ]),
}  # fmt: skip
CASES = [
    pytest.param(platform, path, answer, id=f"{platform}-{place}")
    for platform, (path, answers) in ODD_ANSWERS.items()
    for place, answer in enumerate(answers)
]


@pytest.mark.parametrize(("platform", "path", "answer"), CASES)
def test_an_odd_answer_is_a_failure_and_never_posts_that_are_gone(
    platform: str, path: str, answer: object, serve: Serve, context: ConnectorContext
) -> None:
    setup = set_up(platform, serve, context)
    headers = ElasticsearchServer.HEADERS if platform == "elasticsearch" else {}
    setup.server.fail(Answer(answer, headers=headers), path=path, times=3)
    with pytest.raises(SearchFailed) as failed:
        setup.connector.gone(["1", "2"])
    assert isinstance(failed.value.outcome, Unavailable)
    setup.connector.close()


def test_an_index_that_is_missing_has_lost_no_posts(serve: Serve, context: ConnectorContext) -> None:
    setup = set_up("elasticsearch", serve, context)
    missing = Answer({"error": _NO_INDEX, "status": 404}, 404, ElasticsearchServer.HEADERS)
    setup.server.fail(missing, path="_mget")
    with pytest.raises(SearchFailed, match="there is no index"):
        setup.connector.gone(["1"])
    setup.connector.close()


def test_posts_of_an_account_that_was_deleted_at_reddit_are_gone(serve: Serve, context: ConnectorContext) -> None:
    posts = said(3)
    posts[1] = replace(posts[1], extra={"author": "[deleted]"})
    reddit = make.make_reddit(serve(RedditServer(posts)).url, context)
    setup = Setup(None, reddit, "")  # type: ignore[arg-type]
    assert reddit.gone([post.id for post in posts]) == {posts[1].id}
    page = reddit.search(setup.compiled, setup.window, None)
    assert page.gone == (posts[1].id,)
    assert [post.platform_id for post in page.posts] == [posts[0].id, posts[2].id]
    reddit.close()


def test_odd_entries_of_a_listing_of_reddit_are_notices(serve: Serve, context: ConnectorContext) -> None:
    posts = said(6)
    spoilt: list[dict[str, object]] = [
        {"selftext": {"a": 1}}, {"created_utc": 1e17}, {"id": None, "title": "[deleted]"}, {"author": ["x"]},
    ]  # fmt: skip
    platform = RedditServer([*(replace(p, extra=e) for p, e in zip(posts, spoilt, strict=False)), *posts[4:]])
    server = serve(platform)
    reddit = make.make_reddit(server.url, context)
    setup = Setup(server, reddit, "")
    page = reddit.search(setup.compiled, setup.window, None)
    assert {post.platform_id for post in page.posts} >= {post.id for post in posts[4:]}
    assert page.gone == ()
    children = [None, "x", {"data": 3}, {"kind": "t3"}]
    server.fail(Answer({"data": {"children": children, "after": None}}), path="/search")
    page = reddit.search(setup.compiled, setup.window, None)
    assert len(page.notices) == 1 + len(children)
    reddit.close()
