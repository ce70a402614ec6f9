"""Jetstream into the index on this machine: posts in, deletes out, nothing lost where the connection breaks."""

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from atproto_jetstream import JetstreamClient

from connectors.bluesky.stream import BlueskyStreamConnector, build
from connectors.bluesky.stream_index import EVER, AccountChanged, Change, Gap, Place, PostRemoved
from connectors.protocol import Connector, ConnectorContext, Page, SearchFailed, Window
from connectors.records import moment
from domain.outcome import Unavailable
from domain.query import Query, all_words_query
from tests.integration.connectors.test_contract import ReplayedContract
from tests.replay.jetstream import Jetstream, account, commit, moment_of, streaming
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
        commit(5, "more water", did=OTHER), account(6, OTHER), commit(7, "the last water"),
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
    post = connector.post(commit(1, "water", time="2026-10-01T07:00:00Z"))
    index.write([post], Place(1, NOW), NOW)
    connector.drop_old()
    window = Window(NOW - timedelta(days=90), NOW)
    assert index.count("water", window) == 0


def searched(connector: Connector, window: Window = WEEK, word: str = "water") -> Page:
    (compiled,) = connector.compile(all_words_query((word,), policy="test"))
    return connector.search(compiled, window, None)


def refused(connector: Connector, window: Window = WEEK) -> str:
    with pytest.raises(SearchFailed) as failed:
        searched(connector, window)
    assert isinstance(failed.value.outcome, Unavailable)
    return failed.value.outcome.why


def test_a_follower_that_never_connected_leaves_no_file(
    context: ConnectorContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = threading.Event()
    monkeypatch.setattr(JetstreamClient, "_before_connect", lambda self: tried.set())
    connector = build({"base_url": "ws://127.0.0.1:9/xrpc", "compress": "false"}, context)
    assert isinstance(connector, BlueskyStreamConnector)
    with following(connector, monkeypatch):
        assert tried.wait(20)
    assert list(context.folder.iterdir()) == []
    assert refused(connector) == "nothing has been streamed yet: run `claimwatch stream feed`"


def test_a_stream_that_has_fallen_behind_is_not_searched_and_says_so(connector: BlueskyStreamConnector) -> None:
    last = NOW - timedelta(minutes=11)
    connector._index.write([], Place(1, last), NOW)
    why = "the stream is behind: its last event was at 2026-11-28 07:49 UTC; is `claimwatch stream feed` running?"
    assert refused(connector) == why
    assert refused(connector, Window(NOW - timedelta(days=1), NOW + timedelta(days=1))) == why
    assert searched(connector, Window(NOW - timedelta(days=1), last + timedelta(minutes=10))).posts == ()
    (compiled,) = connector.compile(all_words_query(("water",), policy="test"))
    with pytest.raises(SearchFailed):
        connector.estimate(compiled, WEEK)
    with pytest.raises(SearchFailed):
        connector.gone(["at://x/y/z"])


def test_events_that_are_no_posts_show_that_the_stream_is_not_behind(
    connector: BlueskyStreamConnector, stream: Jetstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.events = [commit(1, "water", time="2026-11-28T07:45:00Z"), account(2, OTHER, active=True)]
    with following(connector, monkeypatch):
        until(lambda: texts(connector) == ["water"])
    assert connector._index.place == Place(2, moment(moment_of(2)))


def test_a_clock_of_a_server_that_runs_ahead_does_not_hide_that_the_stream_stopped(
    connector: BlueskyStreamConnector, stream: Jetstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.events = [commit(1, "water"), account(2, OTHER) | {"time": "2030-01-01T00:00:00Z"}]
    with following(connector, monkeypatch):
        until(lambda: connector._index.place.cursor == 2)
    assert connector._index.place.reached == NOW


def test_a_search_says_since_when_posts_are_held(
    connector: BlueskyStreamConnector, stream: Jetstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.events = [commit(1, "water"), commit(2, "water again")]
    with following(connector, monkeypatch):
        until(lambda: len(texts(connector)) == 2)
    assert searched(connector).incomplete == "nothing is held of before 2026-11-28 07:59 UTC"
    assert searched(connector, Window(moment(moment_of(1)), NOW)).incomplete == ""
    connector._clock = lambda: NOW + timedelta(days=30)
    connector.drop_old()
    assert connector._index.missing(WEEK) == "nothing is held of before 2026-12-14 08:00 UTC"


LEFT = Window(NOW - timedelta(hours=1), NOW)
MISSED = "the stream was missed from 2026-11-28 07:45 to 2026-11-28 07:59 UTC"


@pytest.fixture
def left_behind(connector: BlueskyStreamConnector, stream: Jetstream) -> BlueskyStreamConnector:
    """A stream that was left a quarter of an hour ago, at its fifth event; it has two more since."""
    early = commit(5, "water 5", time="2026-11-28T07:45:00Z")
    changes: list[Change] = [Gap(EVER, NOW - timedelta(days=1)), connector.post(early)]
    connector._index.write(changes, Place(5, moment("2026-11-28T07:45:00Z")), NOW)
    stream.events = [early, *(commit(n, f"water {n}") for n in (30, 31))]
    return connector


def test_a_cursor_that_is_too_old_is_dropped_and_the_gap_is_told(
    left_behind: BlueskyStreamConnector, stream: Jetstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.floor = 30
    with following(left_behind, monkeypatch):
        until(lambda: "water 31" in texts(left_behind))
    assert stream.cursors[:2] == [5, None]
    assert texts(left_behind) == ["water 31", "water 30", "water 5"]
    assert searched(left_behind, LEFT).incomplete == MISSED
    assert searched(left_behind, Window(moment(moment_of(30)), NOW)).incomplete == ""
    assert searched(left_behind, Window(NOW - timedelta(hours=1), NOW - timedelta(minutes=15))).incomplete == ""


def test_a_server_that_goes_on_from_a_later_event_leaves_a_gap(
    left_behind: BlueskyStreamConnector, stream: Jetstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.bluesky.stream._BEHIND", timedelta(hours=1))  # the time alone shows nothing
    stream.floor, stream.clamps = 30, True
    with following(left_behind, monkeypatch):
        until(lambda: "water 31" in texts(left_behind))
    assert stream.cursors == [5]
    assert searched(left_behind, LEFT).incomplete == MISSED


def test_events_that_lie_far_apart_leave_a_gap(
    left_behind: BlueskyStreamConnector, stream: Jetstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    with following(left_behind, monkeypatch):
        until(lambda: "water 31" in texts(left_behind))
    assert searched(left_behind, LEFT).incomplete == MISSED


def test_a_cursor_of_another_server_is_dropped_and_the_gap_is_told(
    left_behind: BlueskyStreamConnector, stream: Jetstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.bluesky.stream._BEHIND", timedelta(hours=1))
    stream.events = [commit(n, f"water {n}") for n in (2, 3)]
    with following(left_behind, monkeypatch):
        until(lambda: "water 3" in texts(left_behind))
        stream.events.append(commit(4, "water 4"))
    assert stream.cursors == [5, None]
    assert searched(left_behind, LEFT).incomplete == MISSED
    assert left_behind._index.place.cursor == 3


def test_a_refusal_that_is_not_of_the_cursor_is_waited_out_and_nothing_is_missed(
    left_behind: BlueskyStreamConnector, stream: Jetstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.bluesky.stream._BEHIND", timedelta(hours=1))
    stream.refusals = [(429, "RateLimitExceeded"), (403, "Forbidden")]
    with following(left_behind, monkeypatch):
        until(lambda: "water 31" in texts(left_behind))
    assert stream.cursors == [5, 5, 5]
    assert searched(left_behind, LEFT).incomplete == ""


def test_posts_of_a_removed_account_are_gone_also_those_that_come_late_until_it_is_back(
    connector: BlueskyStreamConnector, stream: Jetstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.events = [account(1, OTHER), commit(2, "late water", did=OTHER), commit(3, "other water")]
    held_by_the_store = f"at://{OTHER}/app.bsky.feed.post/of-last-year"
    with following(connector, monkeypatch):
        until(lambda: "other water" in texts(connector))
    assert texts(connector) == ["other water"]
    assert connector.gone([held_by_the_store, "at://did:plc:cccc/app.bsky.feed.post/1"]) == {held_by_the_store}

    stream.events += [account(4, OTHER, active=True), commit(5, "water of one who is back", did=OTHER)]
    with following(connector, monkeypatch):
        until(lambda: len(texts(connector)) == 2)
    assert connector.gone([held_by_the_store]) == set()


def test_what_happens_within_a_batch_happens_in_its_order(connector: BlueskyStreamConnector) -> None:
    uri = f"at://{OTHER}/app.bsky.feed.post/r1"
    post, author = connector.post(commit(1, "water", did=OTHER)), connector.mark(OTHER)
    came_back: list[Change] = [
        PostRemoved(uri), AccountChanged(author, active=False), AccountChanged(author, active=True), post
    ]  # fmt: skip
    connector._index.write(came_back, Place(4, NOW), NOW)
    assert texts(connector) == ["water"]
    assert connector.gone([uri]) == set()


def test_what_is_known_of_removed_accounts_goes_when_no_post_of_theirs_can_be_held(
    connector: BlueskyStreamConnector,
) -> None:
    uri = f"at://{OTHER}/app.bsky.feed.post/r1"
    connector._index.write([AccountChanged(connector.mark(OTHER), active=False)], Place(1, NOW), NOW)
    for days, gone in ((89, {uri}), (91, set())):
        connector._clock = lambda days=days: NOW + timedelta(days=days)  # type: ignore[misc]
        connector.drop_old()
        assert connector._index.removed([uri]) == gone


def test_a_forgotten_post_goes_from_the_file_and_does_not_come_back_with_a_replay(
    connector: BlueskyStreamConnector, stream: Jetstream, context: ConnectorContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream.events = [commit(1, "water that shall be forgotten"), commit(2, "water", did=OTHER), commit(3, "water 3")]
    with following(connector, monkeypatch):
        until(lambda: len(texts(connector)) == 3)
    uri = "at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/app.bsky.feed.post/r1"
    with connector._index._open() as other:  # while one is connected, SQLite keeps its log of writes
        other.execute("SELECT * FROM place").fetchall()
        connector.remove([uri, OTHER, "never-was"])
        left = b"".join(file.read_bytes() for file in context.folder.iterdir())
    assert texts(connector) == ["water 3"]
    assert b"shall be forgotten" not in left
    assert uri.encode() not in left

    stream.events = [*stream.events, commit(4, None, rkey="r1"), commit(5, "water 5")]
    monkeypatch.setattr(Jetstream, "after", lambda self, cursor: self.events)
    with following(connector, monkeypatch):
        until(lambda: "water 5" in texts(connector))
    assert texts(connector) == ["water 5", "water 3"]
    assert connector.gone([uri]) == {uri}
    assert uri.encode() not in b"".join(file.read_bytes() for file in context.folder.iterdir())


def test_a_post_may_be_forgotten_before_anything_was_streamed(connector: BlueskyStreamConnector) -> None:
    post = connector.post(commit(1, "water"))
    connector.remove([post.platform_id])
    assert refused(connector).startswith("nothing has been streamed yet")
    connector._index.write([post], Place(1, NOW), NOW)
    assert texts(connector) == []


def test_a_file_that_cannot_be_used_is_unavailable(connector: BlueskyStreamConnector) -> None:
    connector._file.write_bytes(b"no database" * 100)
    assert refused(connector).startswith("the index of the stream cannot be used: ")
    with pytest.raises(SearchFailed):
        connector.remove(["x"])


def test_a_search_does_not_wait_for_the_follower_to_finish_writing(connector: BlueskyStreamConnector) -> None:
    index = connector._index
    index.write([connector.post(commit(1, "water"))], Place(1, NOW), NOW)
    with index._writing() as conn:
        conn.execute("DELETE FROM posts")
        assert texts(connector) == ["water"]


def test_a_follower_does_not_wait_for_a_search_to_finish_reading(
    connector: BlueskyStreamConnector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.bluesky.stream_index._WAIT_S", 0.0)
    index = connector._index
    index.write([connector.post(commit(1, "water"))], Place(1, NOW), NOW)
    with index._open() as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM posts").fetchone() == (1,)
        index.write([connector.post(commit(2, "water"))], Place(2, NOW), NOW)
    assert len(texts(connector)) == 2


def test_one_who_writes_waits_for_another_to_finish(connector: BlueskyStreamConnector) -> None:
    index = connector._index
    index.write([connector.post(commit(1, "water"))], Place(1, NOW), NOW)
    with index._writing() as conn:
        index._put(conn, connector.post(commit(2, "water again")))
        other = threading.Thread(target=connector.remove, args=[["at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"]])
        other.start()
    other.join(timeout=20)
    assert not other.is_alive()


WRITER = """
import sys
from datetime import timedelta
from pathlib import Path
from connectors.bluesky.stream_index import Place, StreamIndex
from domain.post import Post
from tests.replay.platforms import NOW

index = StreamIndex(Path(sys.argv[1]), "bluesky", str)
for batch in range(1, 100_000):
    posts = [Post("bluesky", f"at://a/p/{batch}-{n}", f"water {n}", NOW - timedelta(minutes=1)) for n in range(20)]
    index.write(posts, Place(batch, NOW), NOW)
"""


def test_a_follower_that_is_killed_leaves_whole_batches(connector: BlueskyStreamConnector) -> None:
    index = connector._index
    with subprocess.Popen([sys.executable, "-c", WRITER, str(connector._file)]) as writer:
        until(lambda: (index.place.cursor or 0) >= 20)  # read while it is written
        writer.kill()
    conn = sqlite3.connect(connector._file)
    assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    conn.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
    conn.close()
    assert index.count("water", WEEK) == 20 * (index.place.cursor or 0)


class TestContract(ReplayedContract):
    @pytest.fixture
    def connector(self, stream: Jetstream, context: ConnectorContext) -> Connector:
        built = build({"base_url": stream.url}, context)
        assert isinstance(built, BlueskyStreamConnector)
        posts = [
            built.post(commit(n, f"tap water is banned {n}", time=f"2026-11-2{n % 8}T07:{n % 60:02}:{n // 60:02}Z"))
            for n in range(130)
        ]
        built._index.write([*posts, PostRemoved("never-was")], Place(130, NOW), NOW)
        return built

    @pytest.fixture
    def query(self) -> Query:
        return all_words_query(("water", "banned"), policy="test")
