"""Stands for a connector that could not be set up, so that the others, and whatever needs none, go on."""

from collections.abc import Sequence

from connectors.protocol import CompiledQuery, Estimate, Limits, Page, Policy, Prices, SearchFailed, Window
from domain.outcome import Unavailable
from domain.query import EndpointKind, Query
from domain.text import one_line


class UnusableConnector:
    """Every search of it fails with the reason."""

    kind = EndpointKind.BOOLEAN
    limits = Limits(1)
    prices = Prices()
    policy = Policy(may_train=False, keep_days=None, recheck_hours=None, quote_characters=0, may_export_text=False)

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self._why = why

    def compile(self, query: Query) -> list[CompiledQuery]:
        """The words as they stand, whatever the query's kind: they are shown beside the reason, and never sent."""
        syntax = one_line(" ".join(term.text for group in query.groups for term in group))
        return [CompiledQuery(syntax, query)] if syntax else []

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate:
        raise self._failure()

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        raise self._failure()

    def gone(self, ids: Sequence[str]) -> set[str]:
        raise self._failure()

    def close(self) -> None:
        """Nothing was opened."""

    def _failure(self) -> SearchFailed:
        """A new one each time: one that is raised again gathers the tracebacks of all who raised it."""
        return SearchFailed(Unavailable(self._why))
