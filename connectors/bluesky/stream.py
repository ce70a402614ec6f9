"""Bluesky by its stream (Jetstream, atproto): every new post into an index on this machine, deletes out of it.

`claimwatch stream NAME` follows the stream; searches read what it has brought.
"""

import logging
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from atproto_client.models import get_model_as_dict
from atproto_jetstream import JetstreamClient
from pydantic import Field

from connectors.bluesky.posts import post_of_record
from connectors.bluesky.stream_index import StreamIndex
from connectors.options import Options, read_options
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
_GRAMMAR = Grammar(4000, conjunction=" AND ", reserved=frozenset({"and", "or", "not", "near"}))


class StreamOptions(Options):
    base_url: str = "wss://jetstream.us-east.bsky.network/xrpc"
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
        self._index = StreamIndex(self._file, "bluesky")

    def compile(self, query: Query) -> list[CompiledQuery]:
        return compile_boolean(query, _GRAMMAR)

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate:
        return Estimate(self._following().count(compiled.syntax, window), 0)

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        offset, limit = int(cursor or 0), most or self.limits.page_size
        found = self._following().search(compiled.syntax, window, offset, limit + 1)
        return Page(tuple(found[:limit]), str(offset + limit) if len(found) > limit else None)

    def gone(self, ids: Sequence[str]) -> set[str]:
        return self._following().removed(ids)

    def close(self) -> None:
        """Nothing is held open."""

    def follow(self, stopping: threading.Event) -> None:
        """Follow the stream from where it was left until `stopping` is set; a server that hangs up is called again."""
        client = JetstreamClient(
            {"collections": [_COLLECTION], "kinds": ["commit", "account"], "cursor": self._index.cursor},
            self._options.base_url,
            compress=self._options.compress,
        )
        taker = _Taker(self, self._index)
        threading.Thread(target=lambda: (stopping.wait(), client.stop()), daemon=True).start()
        try:
            while not stopping.is_set():
                client.start(taker.take)
                stopping.wait(_BETWEEN_CALLS_S)
        finally:
            taker.flush()

    def post(self, event: Mapping[str, Any]) -> Post:
        return post_of_record(
            event["did"], event["rkey"], event["record"], moment(event.get("witnessedAt") or event["time"]), self._salt
        )

    def author(self, did: str) -> str:
        return pseudonym(did, self._salt)

    def now(self) -> datetime:
        return self._clock()

    def drop_old(self) -> None:
        self._index.drop_before(self._clock() - timedelta(days=self._options.keep_days))

    def _following(self) -> StreamIndex:
        if not self._file.exists():
            raise SearchFailed(Unavailable(f"nothing has been streamed yet: run `claimwatch stream {self.name}`"))
        return self._index


class _Taker:
    """Gathers events and writes them in batches, each with its place in the stream."""

    def __init__(self, connector: BlueskyStreamConnector, index: StreamIndex) -> None:
        self._connector, self._index = connector, index
        self._posts: dict[str, Post] = {}
        self._removed: list[str] = []
        self._authors: list[str] = []
        self._cursor: int | None = None
        self._events = 0
        self._begun = connector.now()
        self._tidied = self._begun - _TIDY

    def take(self, message: Any) -> None:
        event = get_model_as_dict(message)
        self._events += 1
        self._cursor = event.get("seq", self._cursor)
        kind = str(event.get("$type", "")).rsplit("#", 1)[-1]
        try:
            if kind == "commit" and event.get("collection") == _COLLECTION:
                self._commit(event)
            elif kind == "account" and not event["account"].get("active", True):
                self._authors.append(self._connector.author(event["did"]))
        except (KeyError, TypeError, ValueError, AttributeError) as exc:
            logger.warning("event left out", extra={"seq": self._cursor, "reason": f"{type(exc).__name__} {exc}"[:200]})
        if self._events >= _BATCH or self._connector.now() - self._begun >= _FLUSH:
            self.flush()

    def _commit(self, event: Mapping[str, Any]) -> None:
        uri = f"at://{event['did']}/{_COLLECTION}/{event['rkey']}"
        if event["operation"] == "delete":
            self._posts.pop(uri, None)
            self._removed.append(uri)
        else:
            self._posts[uri] = self._connector.post(event)

    def flush(self) -> None:
        """Write what was gathered."""
        now = self._connector.now()
        self._index.write(self._posts.values(), self._removed, self._authors, self._cursor, now)
        if now - self._tidied >= _TIDY:
            self._connector.drop_old()
            self._tidied = now
        self._posts, self._removed, self._authors = {}, [], []
        self._events, self._begun = 0, now


def build(options: Mapping[str, str], context: ConnectorContext) -> Connector:
    return BlueskyStreamConnector(context, read_options(StreamOptions, context.name, options))
