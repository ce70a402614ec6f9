"""A query: an AND of OR groups of terms, with the trail of edits that made it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EndpointKind(StrEnum):
    """How a search endpoint reads a query."""

    RANKED = "ranked"  # a bag of words, best first (BM25)
    DENSE = "dense"  # a text, nearest first (KNN)
    BOOLEAN = "boolean"  # every group must occur, newest first


class Arm(StrEnum):
    """Who made a query, so that the report can say what rewriting gains."""

    LEARNED = "learned"
    PLAIN = "plain"
    PINNED = "pinned"  # by a person


@dataclass(frozen=True, slots=True)
class Term:
    text: str
    weight: float = 1.0


OrGroup = tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """One step from claim to query: the action, the word it touched, and what came of it.

    `position` counts the words that the action could have touched; with it a trail of such edits can be replayed.
    """

    action: str
    word: str = ""
    result: str = ""
    position: int | None = None

    def __str__(self) -> str:
        return " ".join(part for part in (self.action, self.word, "→ " + self.result if self.result else "") if part)


@dataclass(frozen=True, slots=True)
class Query:
    """For ranked and dense endpoints each group holds one term and the order is that of the text."""

    kind: EndpointKind
    groups: tuple[OrGroup, ...]
    policy: str
    trail: tuple[Edit, ...] = ()
    arm: Arm = Arm.PLAIN
    worth: float | None = None  # as a policy predicts it: the share of the posts that are sought which it finds

    @property
    def text(self) -> str:
        """The query as running text: what a ranked or dense endpoint is sent."""
        return " ".join(group[0].text for group in self.groups)

    def __str__(self) -> str:
        """The query as people read it: `vaccine AND (chip OR chips)` for boolean, the text otherwise."""
        if self.kind is not EndpointKind.BOOLEAN:
            return self.text
        words = [" OR ".join(term.text for term in group) for group in self.groups]
        return " AND ".join(f"({w})" if len(g) > 1 else w for w, g in zip(words, self.groups, strict=True))


def text_query(kind: EndpointKind, text: str, *, policy: str, trail: tuple[Edit, ...] = ()) -> Query:
    """A query of running text, one group a word."""
    return Query(kind, tuple((Term(word),) for word in text.split()), policy, trail)


def all_words_query(words: tuple[str, ...], *, policy: str, trail: tuple[Edit, ...] = ()) -> Query:
    """A boolean query in which every word must occur."""
    return Query(EndpointKind.BOOLEAN, tuple((Term(word),) for word in words), policy, trail)
