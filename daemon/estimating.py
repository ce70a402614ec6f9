"""What queries would bring and cost, asked before any post is read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from connectors.protocol import CompiledQuery, Connector, Limits, Prices, SearchFailed, Window
from daemon.service import Service
from daemon.store import spending
from domain.outcome import BudgetUsedUp
from domain.query import Query

_NO_CLAIM = -1  # counts asked by hand belong to no watch


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
    """One for each platform query; where counting itself has a price, it is within budget too, and the note says it."""
    for query in queries:
        for compiled in connector.compile(query):
            yield _estimate(service, connector, compiled, window)


def _estimate(service: Service, connector: Connector, compiled: CompiledQuery, window: Window) -> QueryEstimate:
    try:
        _pay(service, connector)
        found = connector.estimate(compiled, window)
    except SearchFailed as exc:
        return QueryEstimate(connector.name, compiled.syntax, None, None, str(exc.outcome))
    note = f"counting cost ${connector.prices.estimate / 1e6:.3f}" if connector.prices.estimate else ""
    return QueryEstimate(connector.name, compiled.syntax, found.count, found.cost, note)


def _pay(service: Service, connector: Connector) -> None:
    """Raises SearchFailed where the budget has no room for the count itself."""
    if not connector.prices.estimate:
        return
    price, now = Prices(request=connector.prices.estimate), service.clock()
    with service.database.connection() as conn:
        room = spending.reserve(conn, connector.name, _NO_CLAIM, Limits(0, 0), price, now=now)
    if isinstance(room, BudgetUsedUp):
        raise SearchFailed(room)
