"""The seam between text indexes and those who search them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.query import EndpointKind, Query


@dataclass(frozen=True, slots=True)
class Hit:
    id: str
    score: float


class SearchIndex(Protocol):
    """Texts under string ids, searched by `Query`.

    Order: ranked and dense indexes give the best score first, equal scores by id; a boolean index gives the newest
    first, that is the text added last. A longer list always begins with the shorter one. Adding an id again replaces
    its text; removing an unknown id does nothing. A query that fits nothing gives an empty list, never an error.
    """

    @property
    def kind(self) -> EndpointKind: ...

    def add(self, ids: Sequence[str], texts: Sequence[str]) -> None: ...

    def remove(self, ids: Sequence[str]) -> None: ...

    def search(self, query: Query, k: int) -> list[Hit]: ...

    def count(self, query: Query) -> int: ...

    def __len__(self) -> int: ...
