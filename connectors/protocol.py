"""The seam to a platform: what every connector offers and what each answer means.

A connector is sent queries of its own `kind`. Pages come newest first (boolean) or best first (ranked, dense); a page
without a cursor is the last. An empty page means that nothing matched; a search that could not be carried out raises
`SearchFailed` with one of the four other outcomes, so that a failure is never taken for "no results". A record that
cannot be read becomes a notice of its page and never stops the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from domain.outcome import BudgetUsedUp, NotPermitted, RateLimited, Unavailable
from domain.post import Post
from domain.query import EndpointKind, Query


@dataclass(frozen=True, slots=True)
class Window:
    """Posts created in [since, until), aware UTC."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class CompiledQuery:
    """A query in the platform's own syntax; `query` keeps what it means, `notes` what compiling had to change."""

    syntax: str
    query: Query
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimate:
    """Posts a query would bring and what reading them costs, in micro-dollars; None where it cannot be known."""

    count: int | None
    cost: int | None


@dataclass(frozen=True, slots=True)
class Page:
    posts: tuple[Post, ...]
    cursor: str | None = None
    spent: int = 0  # units of the connector's budget
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    page_size: int
    query_characters: int | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """The platform's rules, enforced by the code that keeps, mails and learns from posts."""

    may_train: bool
    keep_days: int | None
    recheck_hours: int | None
    quote_characters: int | None  # at most so much of a post in a mail; None: all of it


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
    def policy(self) -> Policy: ...

    def compile(self, query: Query) -> list[CompiledQuery]: ...

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate: ...

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None) -> Page: ...

    def gone(self, ids: Sequence[str]) -> set[str]: ...
