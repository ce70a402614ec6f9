"""A fact-check on its way in: as it was written, as it is stored, or why it cannot be."""

from dataclasses import dataclass
from datetime import datetime

from domain.fact_check import Verdict

RECORD_LIMIT = 10_000  # characters of a rejected record that are kept


@dataclass(frozen=True, slots=True)
class RawFactCheck:
    """What a source said, as text; empty where it said nothing."""

    id: str = ""
    url: str = ""
    claim: str = ""
    title: str = ""
    body: str = ""
    publisher: str = ""
    author: str = ""
    language: str = ""
    rating: str = ""
    rating_value: str = ""
    rating_best: str = ""
    rating_worst: str = ""
    published_at: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactCheckRecord:
    """A clean fact-check, ready for the store. `key` is the canonical URL, or `source:id`; language "" is unknown."""

    key: str
    url: str | None
    claim: str
    title: str
    body: str
    publisher: str
    author: str
    language: str
    rating_given: str
    rating_value: str | None
    rating_best: str | None
    rating_worst: str | None
    rating_score: float | None
    rating_flags: tuple[str, ...]
    verdict: Verdict
    published_at: datetime | None
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record that cannot be used. `row` is the line of the file (a header is line 1), or the item of a document."""

    source: str
    row: int | None
    field: str
    reason: str
    record: str


class UnusableRecord(Exception):
    """A record lacks something that nothing can stand in for."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason
