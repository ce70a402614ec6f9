"""What is expected of the queries that can be made of a claim's words, in the light of what was asked already."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from domain.query import Query
from models.retrieval.analyser import ENDPOINT
from models.retrieval.statistics import TermStatistics
from models.rewriting.boolean_edits import BooleanEdits, BooleanState, way
from models.rewriting.editable import Word
from models.rewriting.learned.patterns import Space, space
from models.rewriting.learned.retention import Foresight, Retention
from models.rewriting.policy import History, QueryResult
from models.rewriting.tagging import tag

SCALE = 100.0  # a platform holds so many times the posts of the sample that volumes were learned on
_REMEMBERED = 1024  # claims
_TRUE = 0.5  # a post of at least this confidence counts as one that was sought


def query_words(state: BooleanState) -> list[Word]:
    """The content words that queries are made of: of words with the same stems the first."""
    by_stems: dict[tuple[str, ...], Word] = {}
    for word in state.content:
        if stems := tuple(ENDPOINT(word.text)):
            by_stems.setdefault(stems, word)
    return list(by_stems.values())


@dataclass(frozen=True, slots=True)
class Outlook:
    """`words` are those of the space of queries; `left`: (patterns,), how much likelier or less each pattern of a post
    that is still to be found has become; `asked`: queries of the space that were searched, by number."""

    start: BooleanState
    words: tuple[Word, ...]
    foresight: Foresight
    left: NDArray[np.float64]
    asked: frozenset[int] = frozenset()

    @property
    def space(self) -> Space:
        return space(len(self.words))

    @property
    def background(self) -> NDArray[np.float64]:
        """Other posts of the platform that each query is expected to match, (queries,)."""
        return SCALE * self.foresight.background

    def odds(self) -> NDArray[np.float64]:
        """Of each pattern of a post that is still to be found, (patterns,)."""
        return self.foresight.odds() * self.left

    def number(self, query: Query) -> int | None:
        """In the space; None for a query of other words, which says little about these."""
        by_stems = {tuple(ENDPOINT(word.text)): place for place, word in enumerate(self.words)}
        return self.space.numbers.get(
            frozenset(by_stems.get(tuple(ENDPOINT(group[0].text)), -1) for group in query.groups)
        )

    def after(self, history: History, reads: float) -> "Outlook":
        """Once the searches of a history were carried out, each of which read at most so many posts."""
        now = self
        for result in history:
            if isinstance(result, QueryResult) and (number := self.number(result.query)) is not None:
                now = now._searched(number, result, reads)
        return now

    def without(self, query: int) -> "Outlook":
        """Once it is known that no post has all its words."""
        return replace(self, left=self.left * ~self.space.finds[:, query])

    def _searched(self, query: int, result: QueryResult, reads: float) -> "Outlook":
        """What it found is found, and what it would have found is not there, as far as its posts were read."""
        now = replace(self, asked=self.asked | {query})
        if not result.carried_out:
            return now
        chance = 1.0 if result.posts_read < reads else min(1.0, reads / (1.0 + float(self.background[query])))
        found = any(sure >= _TRUE for sure in result.confidences)
        foresight = self.foresight.after(query, chance, found=found)
        return replace(now, foresight=foresight, left=self.left * (1 - chance * self.space.finds[:, query]))


@dataclass(frozen=True, slots=True)
class Foreseer:
    """Reads claims; English ones only. Remembers many, since each is searched again and again.

    `outlook(text)`: before anything was asked; None for a claim without content words.
    """

    retention: Retention
    statistics: TermStatistics
    outlook: Callable[[str], Outlook | None] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "outlook", lru_cache(_REMEMBERED)(self._foresee))

    def query(self, outlook: Outlook, number: int, *, policy: str) -> Query:
        """A query of the space, with the edits that lead to it and the share of the posts sought that it finds."""
        edits, state = self._edits(), outlook.start
        for action in way(state, {outlook.words[place].text for place in outlook.space.queries[number]}):
            state = edits.apply(state, action)
        worth = float(outlook.foresight.odds() @ outlook.space.finds[:, number])
        return replace(state.query(policy=policy), worth=worth)

    def _foresee(self, text: str) -> Outlook | None:
        start = self._edits().start(tag([text])[0])
        words = query_words(start)
        if not words:
            return None
        foresight = self.retention.foresee(text, [word.text for word in words], self.statistics)
        chosen = tuple(words[place] for place in foresight.words)
        return Outlook(start, chosen, foresight, np.ones(len(space(len(chosen)).patterns)))

    def _edits(self) -> BooleanEdits:
        return BooleanEdits(self.statistics, guarded=True)
