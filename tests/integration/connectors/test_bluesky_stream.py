"""Jetstream into the index on this machine: posts in, deletes out, nothing lost where the connection breaks."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from atproto_jetstream import JetstreamClient

from connectors.bluesky.stream import BlueskyStreamConnector, build
from connectors.protocol import Connector, ConnectorContext, SearchFailed, Window
from domain.outcome import Unavailable
from domain.query import Query, all_words_query
from tests.integration.connectors.test_contract import ReplayedContract
from tests.replay.jetstream import Jetstream, account_deleted, commit, streaming
from tests.replay.platforms import NOW
from tests.unit.connectors.contract import all_posts

WEEK = Window(NOW - timedelta(days=7), NOW)
OTHER = "did:plc:bbbbbbbbbbbbbbbbbbbbbbbb"


@pytest.fixture
def stream() -> Iterator[Jetstream]:
    with streaming() as served:
        yield served


@pytest.fixture
def connector(stream: Jetstream, context: ConnectorContext) -> BlueskyStreamConnector:
    built = build({"base_url": stream.url, "compress": "false"}, context)
    assert isinstance(built, BlueskyStreamConnector)
    return built


@contextmanager
def following(connector: BlueskyStreamConnector, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The connector follows its stream in a thread until the end of the block."""
    monkeypatch.setattr("connectors.bluesky.stream._BATCH", 1)
    monkeypatch.setattr("connectors.bluesky.stream._BETWEEN_CALLS_S", 0.05)
    monkeypatch.setattr(JetstreamClient, "_get_reconnection_delay", lambda self: 0.05)
    stopping = threading.Event()
    thread = threading.Thread(target=connector.follow, args=[stopping])
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join(timeout=30)
        assert not thread.is_alive()


def until(fact: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not fact():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.02)


def texts(connector: Connector, word: str = "water") -> list[str]:
    (compiled,) = connector.compile(all_words_query((word,), policy="test"))
    try:
        return [post.text for post in all_posts(connector, compiled, WEEK)]
    except SearchFailed:
        return []


def test_before_anything_was_streamed_a_search_is_unavailable_and_says_what_to_run(connector: Connector) -> None:
    (compiled,) = connector.compile(all_words_query(("water",), policy="test"))
    with pytest.raises(SearchFailed) as failed:
        connector.search(compiled, WEEK, None)
    assert failed.value.outcome == Unavailable("nothing has been streamed yet: run `claimwatch stream feed`")


def test_posts_come_in_and_deletes_take_them_out(
    connector: BlueskyStreamConnector, stream: Jetstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.events = [
        commit(1, "tap water is banned"), commit(2, "water again"), commit(3, "owls"), commit(4, None, rkey="r1"),
        commit(5, "more water", did=OTHER), account_deleted(6, OTHER), commit(7, "the last water"),
    ]  # fmt: skip
    with following(connector, monkeypatch):
        until(lambda: "the last water" in texts(connector))
    assert texts(connector) == ["the last water", "water again"]
    own = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
    uris = [f"at://{own}/app.bsky.feed.post/r{n}" for n in (1, 2)]
    assert connector.gone([*uris, f"at://{OTHER}/app.bsky.feed.post/r5"]) == {
        uris[0],
        f"at://{OTHER}/app.bsky.feed.post/r5",
    }


def test_a_connection_that_breaks_is_made_again_where_it_stood(
    connector: BlueskyStreamConnector, stream: Jetstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.events, stream.cut_after = [commit(n, f"water {n}") for n in range(1, 21)], 7
    with following(connector, monkeypatch):
        until(lambda: len(texts(connector)) == 20)
    assert stream.cursors == [None, 7]


def test_a_new_process_goes_on_where_the_last_one_stopped(
    connector: BlueskyStreamConnector, stream: Jetstream, context: ConnectorContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.events = [commit(n, f"water {n}") for n in range(1, 6)]
    with following(connector, monkeypatch):
        until(lambda: len(texts(connector)) == 5)
    stream.events += [commit(n, f"water {n}") for n in range(6, 9)]
    again = build({"base_url": stream.url, "compress": "false"}, context)
    assert isinstance(again, BlueskyStreamConnector)
    with following(again, monkeypatch):
        until(lambda: len(texts(again)) == 8)
    assert stream.cursors == [None, 5]


def test_frames_that_cannot_be_read_are_passed_over(
    connector: BlueskyStreamConnector, stream: Jetstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = commit(2, "odd") | {"record": {"$type": "app.bsky.feed.post", "facets": "none"}}
    stream.events, stream.garbage = [commit(1, "water 1"), odd, commit(3, "water 3")], True
    with following(connector, monkeypatch):
        until(lambda: len(texts(connector)) == 2)


def test_posts_that_are_too_old_are_let_go(connector: BlueskyStreamConnector, stream: Jetstream) -> None:
    index = connector._index
    post = connector.post(commit(1, "water") | {"time": "2026-10-01T07:00:00Z"})
    index.write([post], [], [], 1, NOW)
    connector.drop_old()
    window = Window(NOW - timedelta(days=90), NOW)
    assert index.count("water", window) == 0


class TestContract(ReplayedContract):
    @pytest.fixture
    def connector(self, stream: Jetstream, context: ConnectorContext) -> Connector:
        built = build({"base_url": stream.url}, context)
        assert isinstance(built, BlueskyStreamConnector)
        posts = [
            built.post(
                commit(n, f"tap water is banned {n}") | {"time": f"2026-11-2{n % 8}T07:{n % 60:02}:{n // 60:02}Z"}
            )
            for n in range(130)
        ]
        gone = "never-was"
        built._index.write(posts, [gone], [], 130, NOW)
        return built

    @pytest.fixture
    def query(self) -> Query:
        return all_words_query(("water", "banned"), policy="test")
