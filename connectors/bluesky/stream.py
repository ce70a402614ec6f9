"""Bluesky by its stream (Jetstream, atproto): every new post into an index on this machine, deletes out of it.

`claimwatch stream NAME` follows the stream; searches read what it has brought.
"""

import logging
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from atproto_client.models import get_model_as_dict
from atproto_client.models.common import XrpcError
from atproto_jetstream import JetstreamClient
from atproto_jetstream.exceptions import JetstreamError
from pydantic import Field
from websockets.exceptions import InvalidStatus

from connectors.bluesky.posts import post_of_record
from connectors.bluesky.stream_index import EVER, AccountChanged, Change, Gap, Place, PostRemoved, StreamIndex
from connectors.options import Options, StreamAddress, read_options
from connectors.platform_query import Grammar, compile_boolean
from connectors.protocol import (
    CompiledQuery,
    Connector,
    ConnectorContext,
    Estimate,
    Limits,
    Page,
    Policy,
    Prices,
    SearchFailed,
    Window,
)  # fmt: skip
from connectors.records import moment, pseudonym
from domain.outcome import Unavailable
from domain.post import Post
from domain.query import EndpointKind, Query

logger = logging.getLogger(__name__)

_COLLECTION = "app.bsky.feed.post"
_BATCH = 500  # events, or as many as come within…
_FLUSH = timedelta(seconds=2)
_BETWEEN_CALLS_S = 1.0
_TIDY = timedelta(hours=1)  # between two looks for posts that are too old
# Bluesky's users write several posts a second: a stream that says nothing of anyone for so long has stopped, or its
# server has. An open connection is no sign of the contrary, so only events count, also those that are of no post.
_BEHIND = timedelta(minutes=10)
_BAD_REQUEST = 400
_GRAMMAR = Grammar(4000, conjunction=" AND ", reserved=frozenset({"and", "or", "not", "near"}))


class StreamOptions(Options):
    base_url: StreamAddress = "wss://jetstream.us-east.bsky.network/xrpc"
    keep_days: int = Field(14, gt=0, le=90)
    compress: bool = True


class BlueskyStreamConnector:
    """May be shared by threads."""

    kind = EndpointKind.BOOLEAN
    limits = Limits(100, query_characters=_GRAMMAR.characters)
    prices = Prices()

    def __init__(self, context: ConnectorContext, options: StreamOptions) -> None:
        self.name = context.name
        self.policy = Policy(may_train=True, keep_days=90, recheck_hours=1, quote_characters=None)
        self._salt, self._clock, self._options = context.salt, context.clock, options
        self._file = context.folder / f"bluesky-{context.name}.sqlite"
        self._index = StreamIndex(self._file, "bluesky", self.mark)

    def compile(self, query: Query) -> list[CompiledQuery]:
        return compile_boolean(query, _GRAMMAR)

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate:
        with self._reading(window.until) as index:
            return Estimate(index.count(compiled.syntax, window), 0)

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        offset, limit = int(cursor or 0), most or self.limits.page_size
        with self._reading(window.until) as index:
            found = index.search(compiled.syntax, window, offset, limit + 1)
            if len(found) > limit:
                return Page(tuple(found[:limit]), str(offset + limit))
            return Page(tuple(found), incomplete=index.missing(window))

    def gone(self, ids: Sequence[str]) -> set[str]:
        """Those that were deleted, themselves or with their account. A stream that is behind may not know it yet."""
        with self._reading(self.now()) as index:
            return index.removed(ids)

    def remove(self, ids: Sequence[str]) -> None:
        """No replay of the stream brings them back."""
        with _faults_told():
            self._index.forget(ids)

    def remove_author(self, author: str) -> None:
        """By the account's DID; no replay of the stream brings its posts back."""
        self.remove([author])

    def close(self) -> None:
        """Nothing is held open."""

    def follow(self, stopping: threading.Event) -> None:
        """Follow the stream from where it was left until `stopping` is set; a server that hangs up is called again."""
        taker = _Taker(self, self._index)
        threading.Thread(target=taker.hang_up_when, args=[stopping], daemon=True).start()
        try:
            while not stopping.is_set():
                taker.use(self._client(taker.cursor))
                while not (stopping.is_set() or taker.wants_new_client):
                    _call(taker)
                    stopping.wait(_BETWEEN_CALLS_S)
        finally:
            taker.flush()

    def _client(self, cursor: int | None) -> JetstreamClient:
        return JetstreamClient(
            {"collections": [_COLLECTION], "kinds": ["commit", "account"], "cursor": cursor},
            self._options.base_url,
            compress=self._options.compress,
        )

    def post(self, event: Mapping[str, Any]) -> Post:
        return post_of_record(
            event["did"], event["rkey"], event["record"], moment(event.get("witnessedAt") or event["time"]), self._salt
        )

    def mark(self, name: str) -> str:
        return pseudonym(name, self._salt)

    def now(self) -> datetime:
        return self._clock()

    def drop_old(self) -> None:
        now = self.now()
        # No one holds a post for longer than the policy says: after that, nobody asks whether its account is gone.
        kept = timedelta(days=self.policy.keep_days or 0)
        self._index.drop_before(now - timedelta(days=self._options.keep_days), authors_before=now - kept)

    @contextmanager
    def _reading(self, until: datetime) -> Iterator[StreamIndex]:
        """The index, if it holds what the stream said until then. Raises SearchFailed."""
        with _faults_told():
            reached = self._index.place.reached
            if reached is None:
                raise SearchFailed(Unavailable(f"nothing has been streamed yet: run `claimwatch stream {self.name}`"))
            if min(until, self.now()) - reached > _BEHIND:
                raise SearchFailed(
                    Unavailable(
                        f"the stream is behind: its last event was at {reached:%Y-%m-%d %H:%M} UTC; "
                        f"is `claimwatch stream {self.name}` running?"
                    )
                )
            yield self._index


@contextmanager
def _faults_told() -> Iterator[None]:
    """A file that cannot be used is a search that failed."""
    try:
        yield
    except sqlite3.Error as exc:
        raise SearchFailed(Unavailable(f"the index of the stream cannot be used: {exc}")) from exc


class _Taker:
    """Gathers events and writes them in batches, each with its place in the stream."""

    def __init__(self, connector: BlueskyStreamConnector, index: StreamIndex) -> None:
        self._connector, self._index = connector, index
        self._changes: list[Change] = []
        self._events = 0
        self._begun = connector.now()
        self._tidied = self._begun - _TIDY
        place = index.place
        self.cursor, self._reached = place.cursor, place.reached
        self._expected = self.cursor  # a server that goes on from a cursor sends the event of the cursor first
        self._missed = False
        self.client: JetstreamClient | None = None
        self.wants_new_client = False

    def take(self, message: Any) -> None:
        event = get_model_as_dict(message)
        kind = str(event.get("$type", "")).rsplit("#", 1)[-1]
        if kind == "info":
            return self._heed(str(event.get("name")))
        self._events += 1
        try:
            self._move(event)
            self._change(kind, event)
        except (KeyError, TypeError, ValueError, AttributeError) as exc:
            logger.warning("event left out", extra={"seq": self.cursor, "reason": f"{type(exc).__name__} {exc}"[:200]})
        if self._events >= _BATCH or self._connector.now() - self._begun >= _FLUSH:
            self.flush()

    def lose_place(self) -> None:
        """The server does not go on from the cursor: go on from now, by a client that knows nothing of it."""
        logger.warning(
            "the stream cannot be resumed: posts since the last event are missed", extra={"seq": self.cursor}
        )
        self.cursor = self._expected = None
        self._missed = self.wants_new_client = True

    def use(self, client: JetstreamClient) -> None:
        self.client, self.wants_new_client = client, False

    def hang_up_when(self, stopping: threading.Event) -> None:
        stopping.wait()
        self.hang_up()

    def hang_up(self) -> None:
        if self.client:
            self.client.stop()

    def flush(self) -> None:
        """Write what was gathered. Nothing gathered leaves no file: one would look like a stream that found nothing."""
        now = self._connector.now()
        if self._events:
            self._index.write(self._changes, Place(self.cursor, self._reached), now)
            if now - self._tidied >= _TIDY:
                self._connector.drop_old()
                self._tidied = now
        self._changes, self._events, self._begun = [], 0, now

    def _heed(self, advice: str) -> None:
        if advice == "FutureCursor":  # the client would pass over all events below the cursor
            self.lose_place()
            self.hang_up()
        elif advice == "OutdatedCursor":  # the server goes on from as far back as it can
            self._missed, self._expected = True, None

    def _move(self, event: Mapping[str, Any]) -> None:
        """Go on to the place of an event, noting what the stream left out before it."""
        self.cursor, expected = event.get("seq", self.cursor), self._expected
        self._expected = None
        # No clock of a server makes us be further than now.
        at = min(moment(event.get("witnessedAt") or event["time"]), self._connector.now())
        if self._reached is None:
            self._changes.append(Gap(EVER, at))
        elif at > self._reached:
            passed_over = expected is not None and self.cursor is not None and self.cursor > expected
            # A client that was cut off for days resumes by itself; that the server began later shows by the time alone.
            if self._missed or passed_over or at - self._reached > _BEHIND:
                self._changes.append(Gap(self._reached, at))
        self._missed = False
        self._reached = max(at, self._reached or at)

    def _change(self, kind: str, event: Mapping[str, Any]) -> None:
        if kind == "account":
            author = self._connector.mark(event["did"])
            self._changes.append(AccountChanged(author, event["account"].get("active", True)))
        elif kind == "commit" and event.get("collection") == _COLLECTION:
            uri = f"at://{event['did']}/{_COLLECTION}/{event['rkey']}"
            deleted = event["operation"] == "delete"
            self._changes.append(PostRemoved(uri) if deleted else self._connector.post(event))


def _call(taker: _Taker) -> None:
    """Follow until the server hangs up for good, or refuses; the client waits longer each time it is used again."""
    assert taker.client is not None
    try:
        taker.client.start(taker.take)
    except JetstreamError as exc:
        logger.warning("the stream was refused", extra={"reason": f"{type(exc).__name__} {exc}"[:200]})
        if taker.cursor is not None and _refuses_cursor(exc):
            taker.lose_place()


def _refuses_cursor(exc: JetstreamError) -> bool:
    """By its name (CursorTooOld, FutureCursor), or by refusing the request as such, in which only the cursor varies.
    Other refusals, too many connections, say, end by waiting, and nothing is missed."""
    said = exc.args[0] if exc.args else None
    if isinstance(said, XrpcError) and "cursor" in said.error.lower():
        return True
    cause = exc.__cause__
    return isinstance(cause, InvalidStatus) and cause.response.status_code == _BAD_REQUEST


def build(options: Mapping[str, str], context: ConnectorContext) -> Connector:
    return BlueskyStreamConnector(context, read_options(StreamOptions, context.name, options))
