"""A platform made of a file of posts and one of our own indexes: the demo, the papers' setting, a team's archive."""

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from connectors.options import Options, read_options
from connectors.protocol import (
    CompiledQuery,
    Connector,
    ConnectorContext,
    Estimate,
    Limits,
    Page,
    Policy,
    Prices,
    Window,
)
from connectors.records import moment
from connectors.simulated.posts_file import PostsFile, read_posts
from domain.query import EndpointKind, Query
from domain.search_index import SearchIndex
from domain.text import one_line

_MOST_NOTICES = 10  # of the file, told with the first page of each search


class SimulatedConnector:
    """Behaves as its index does: boolean gives every match, newest first; ranked and dense the best `depth`.

    The index is filled at the first search, since embedding a large file takes minutes. May be shared by threads.
    """

    def __init__(
        self, name: str, index: SearchIndex, file: PostsFile, *, page_size: int = 100, depth: int = 50
    ) -> None:
        self.name = name
        self.kind = index.kind
        self.limits = Limits(page_size)
        self.prices = Prices()
        self.policy = Policy(may_train=True, keep_days=None, recheck_hours=None, quote_characters=None)
        self._posts = {post.platform_id: post for post in file.posts}
        self._notices = _shortened(file.notices)
        self._index = index
        self._depth = depth
        self._filling = threading.Lock()
        self._is_filled = False

    def compile(self, query: Query) -> list[CompiledQuery]:
        syntax = one_line(str(query))
        return [CompiledQuery(syntax, query)] if syntax else []

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate:
        return Estimate(len(self._found(compiled.query, window)), 0)

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        start = int(cursor or 0)
        end = start + min(most or self.limits.page_size, self.limits.page_size)
        ids = self._found(compiled.query, window)
        posts = tuple(self._posts[id_] for id_ in ids[start:end])
        return Page(posts, str(end) if end < len(ids) else None, self._notices if start == 0 else ())

    def gone(self, ids: Sequence[str]) -> set[str]:
        return set(ids) - set(self._posts)

    def close(self) -> None:
        """Nothing is held open."""

    def _found(self, query: Query, window: Window) -> list[str]:
        """All ids in the window that a search gives, in order."""
        index = self._filled_index()
        if self.kind is EndpointKind.BOOLEAN:
            return self._inside(index, query, window, len(index))
        # A longer list begins with the shorter one: look deeper until enough of it lies in the window.
        k = 2 * self._depth
        while len(found := self._inside(index, query, window, k)) < self._depth and k < len(index):
            k *= 4
        return found[: self._depth]

    def _inside(self, index: SearchIndex, query: Query, window: Window, k: int) -> list[str]:
        hits = index.search(query, k)
        return [hit.id for hit in hits if window.since <= self._posts[hit.id].created_at < window.until]

    def _filled_index(self) -> SearchIndex:
        with self._filling:
            if not self._is_filled:
                self._index.add(list(self._posts), [post.text for post in self._posts.values()])
                self._is_filled = True
        return self._index


def _shortened(notices: tuple[str, ...]) -> tuple[str, ...]:
    more = len(notices) - _MOST_NOTICES
    return (*notices[:_MOST_NOTICES], f"and {more} more records of the file") if more > 0 else notices


class SimulatedOptions(Options):
    posts: Path
    kind: EndpointKind = EndpointKind.BOOLEAN
    page_size: int = Field(100, gt=0, le=100_000)
    undated: Annotated[datetime, AfterValidator(moment)] | None = None  # given to posts that have no date


def build(options: Mapping[str, str], context: ConnectorContext) -> Connector:
    """Raises BadSetting for an option that is missing or wrong, BadInput for a file that cannot be used."""
    given = read_options(SimulatedOptions, context.name, options)
    file = read_posts(given.posts, salt=context.salt, undated=given.undated)
    return SimulatedConnector(context.name, context.index_for(given.kind), file, page_size=given.page_size)
