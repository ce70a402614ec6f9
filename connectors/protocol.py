"""The seam to a platform: what every connector offers and what each answer means.

A connector is sent queries of its own `kind`. Pages come newest first (boolean) or best first (ranked, dense); a page
without a cursor is the last. An empty page means that nothing matched; a search that could not be carried out raises
`SearchFailed` with one of the four other outcomes, so that a failure is never taken for "no results". A record that
cannot be read becomes a notice of its page and never stops the rest. A connector never waits for longer than its
time-outs: what it must wait for is the `until` of the outcome.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Protocol, runtime_checkable

from domain.clock import Clock
from domain.outcome import BudgetUsedUp, NotPermitted, RateLimited, Unavailable
from domain.post import Post
from domain.query import EndpointKind, Query
from domain.search_index import SearchIndex


@dataclass(frozen=True, slots=True)
class ConnectorContext:
    """What a connector is given besides its options: its name in the settings, the key of authors' pseudonyms, a folder
    that it may keep a login in, and a maker of empty indexes for those that search their own texts."""

    name: str
    salt: str
    clock: Clock
    folder: Path
    index_for: Callable[[EndpointKind], SearchIndex]


@dataclass(frozen=True, slots=True)
class Window:
    """Posts created in [since, until), aware UTC."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A query in the platform's own syntax; `query` is what it means, its trail goes on with what compiling changed."""

    syntax: str
    query: Query


@dataclass(frozen=True, slots=True)
class Estimate:
    """Posts a query would bring and what reading them costs, in micro-dollars; None where it cannot be known."""

    count: int | None
    cost: int | None


@dataclass(frozen=True, slots=True)
class Page:
    posts: tuple[Post, ...]
    cursor: str | None = None
    notices: tuple[str, ...] = ()
    incomplete: str = ""  # of a last page: why there is more that the platform does not give
    gone: tuple[str, ...] = ()  # ids of posts that the platform says were removed
    billed: tuple[str, ...] = ()  # where a post has a price: ids of all that came, also of those left out


@dataclass(frozen=True, slots=True)
class Limits:
    page_size: int
    smallest_page: int = 1
    query_characters: int | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """In micro-dollars (a millionth). A post is charged once a UTC day; a failed request costs nothing."""

    post: int = 0
    request: int = 0
    estimate: int = 0


@dataclass(frozen=True, slots=True)
class Policy:
    """The platform's rules, enforced by the code that keeps, mails and learns from posts."""

    may_train: bool
    keep_days: int | None  # None: for as long as the fact-check is kept
    recheck_hours: int | None  # posts are asked for again so often, and go if they are gone; None: never
    quote_characters: int | None  # at most so much of a post in a mail; None: all of it
    may_export_text: bool = True  # else exports hold ids and links only


class SearchFailed(Exception):
    """The search was not carried out; `outcome` says which of the four reasons it was."""

    def __init__(self, outcome: RateLimited | BudgetUsedUp | NotPermitted | Unavailable) -> None:
        super().__init__(str(outcome))
        self.outcome = outcome


class Connector(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> EndpointKind: ...

    @property
    def limits(self) -> Limits: ...

    @property
    def prices(self) -> Prices: ...

    @property
    def policy(self) -> Policy: ...

    def compile(self, query: Query) -> list[CompiledQuery]: ...

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate: ...

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        """A page of at most `most` posts (None: the page size); `most` is never below the smallest page."""
        ...

    def gone(self, ids: Sequence[str]) -> set[str]:
        """Those of the posts that are no longer to be had. Raises SearchFailed where it could not be asked."""
        ...

    def close(self) -> None:
        """Let go of connections; the connector is not used again."""
        ...


@runtime_checkable
class Streaming(Protocol):
    """A connector whose posts come by a stream, which a process of its own follows."""

    def follow(self, stopping: Event) -> None:
        """Take in the stream from where it was left, until `stopping` is set."""
        ...


@runtime_checkable
class Indexing(Protocol):
    """A connector whose index a team fills itself."""

    def add(self, posts: Iterable[Post]) -> Iterator[str]:
        """Take in posts, replacing those of the same id; a line for each that was refused."""
        ...


@runtime_checkable
class Removing(Protocol):
    """A connector whose own store of posts can let posts go."""

    def remove(self, ids: Sequence[str]) -> None:
        """Let go of the posts; those that are not there are no failure. Raises SearchFailed where any may remain."""
        ...

    def remove_author(self, author: str) -> None:
        """Let go of all posts of an author, named as the platform does. Raises SearchFailed where any may remain."""
        ...
