"""What queries would bring and cost, asked before any post is read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from connectors.protocol import CompiledQuery, Connector, SearchFailed, Window
from daemon.fetching import count_posts
from daemon.service import Service
from daemon.store import searches
from domain.query import Query


@dataclass(frozen=True, slots=True)
class QueryEstimate:
    """`posts` and `cost` (micro-dollars) are None where nobody can know, or where asking failed as `note` says."""

    connector: str
    syntax: str
    posts: int | None
    cost: int | None
    note: str = ""

    @property
    def posts_text(self) -> str:
        return "?" if self.posts is None else f"{self.posts:,}"

    @property
    def cost_text(self) -> str:
        return "?" if self.cost is None else f"${self.cost / 1e6:,.2f}"


def estimates(
    service: Service, connector: Connector, queries: Iterable[Query], window: Window
) -> Iterator[QueryEstimate]:
    """One for each platform query; where the platform does not count, what past searches brought stands for it."""
    for query in queries:
        for compiled in connector.compile(query):
            yield _estimate(service, connector, compiled, window)


def counted(service: Service, connector: Connector, query: Query, window: Window) -> int | None:
    """How many posts a query would bring; None where the platform cannot tell, or fails to."""
    total = 0
    for compiled in connector.compile(query):
        try:
            found = count_posts(service, connector, compiled, window)
        except SearchFailed:
            return None  # reading the posts will tell why
        if found.count is None:
            return None
        total += found.count
    return total


def _estimate(service: Service, connector: Connector, compiled: CompiledQuery, window: Window) -> QueryEstimate:
    name, syntax = connector.name, compiled.syntax
    try:
        found = count_posts(service, connector, compiled, window)
    except SearchFailed as exc:
        return QueryEstimate(name, syntax, None, None, str(exc.outcome))
    if found.count is None:
        with service.database.connection() as conn:
            past = searches.past_yield(conn, name, syntax)
        if past is not None:
            return QueryEstimate(name, syntax, past, past * connector.prices.post, "what past searches brought")
    note = f"counting cost ${connector.prices.estimate / 1e6:.3f}" if connector.prices.estimate else ""
    return QueryEstimate(name, syntax, found.count, found.cost, note)
