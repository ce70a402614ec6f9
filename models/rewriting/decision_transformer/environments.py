"""What a policy sees of a text or boolean query on its way, and the edits it may choose from, under one face."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from models.retrieval.statistics import TermStatistics
from models.rewriting.boolean_edits import BOOLEAN_NAMES, BooleanEdits, BooleanState
from models.rewriting.editable import Word
from models.rewriting.edits import NAMES, POSITIONS, EditState, TextEdits
from models.rewriting.tagging import Token

_PARTS = ("VERB", "NOUN", "PROPN", "ADJ", "ADV", "NUM", "PUNCT", "ADP")  # the others share a place
_OWN = 6  # features besides the part of speech
FEATURES = _OWN + len(_PARTS) + 1

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Seen:
    """The text to encode; where in it each position's word stands; features of the words, (positions, FEATURES)."""

    text: str
    spans: tuple[tuple[int, int], ...]
    features: NDArray[np.float32]


class Environment(Protocol[State]):
    """Actions are 32 x kind + position. `key` is the text under which explorations know a state."""

    @property
    def kinds(self) -> int: ...

    def start(self, tokens: tuple[Token, ...]) -> State: ...

    def legal(self, state: State) -> NDArray[np.bool_]: ...

    def apply(self, state: State, action: int) -> State: ...

    def key(self, state: State) -> str: ...

    def seen(self, state: State) -> Seen: ...


class TextEnvironment:
    """For ranked and dense endpoints. Features: idf, content word, editable, removable, place, length of the text."""

    kinds = len(NAMES)

    def __init__(self, edits: TextEdits) -> None:
        self._edits = edits
        self.start, self.legal, self.apply = edits.start, edits.legal, edits.apply
        self._idf = _remembered_idf(edits.statistics)

    def key(self, state: EditState) -> str:
        return state.text

    def seen(self, state: EditState) -> Seen:
        starts = np.cumsum([0, *(len(word.text) + len(word.space) for word in state.words)]).tolist()
        positions = state.positions
        spans = tuple((starts[at], starts[at] + len(state.words[at].text)) for at in positions)
        features = np.zeros((len(positions), FEATURES), np.float32)
        for row, at in enumerate(positions):
            word = state.words[at]
            own = (
                self._idf(word.text), word.is_content, word.is_editable, word.is_removable, row / POSITIONS,
                len(positions) / POSITIONS,
            )  # fmt: skip
            features[row] = (*own, *_part_of_speech(word))
        return Seen(state.text, spans, features)


class BooleanEnvironment:
    """For boolean endpoints: the words of the query, a colon, the content words of the claim. Features: idf, in the
    query, other terms of its group, editable, place, groups of the query."""

    kinds = len(BOOLEAN_NAMES)

    def __init__(self, edits: BooleanEdits) -> None:
        self._edits = edits
        self.start, self.legal, self.apply = edits.start, edits.legal, edits.apply
        self._idf = _remembered_idf(edits.statistics)

    def key(self, state: BooleanState) -> str:
        return " AND ".join(" OR ".join(group) for group in state.groups)

    def seen(self, state: BooleanState) -> Seen:
        query = " ".join(term for group in state.groups for term in group) + " : "
        words = [word.text for word in state.content]
        starts = np.cumsum([len(query), *(len(word) + 1 for word in words)]).tolist()
        spans = tuple((start, start + len(word)) for start, word in zip(starts, words, strict=False))
        terms = {group.position: len(group.terms) for group in state.chosen}
        features = np.zeros((len(words), FEATURES), np.float32)
        for row, word in enumerate(state.content):
            own = (
                self._idf(word.text), row in terms, max(0, terms.get(row, 0) - 1) / 4, word.is_editable,
                row / POSITIONS, len(terms) / 4,
            )  # fmt: skip
            features[row] = (*own, *_part_of_speech(word))
        return Seen(query + " ".join(words), spans, features)


def _remembered_idf(statistics: TermStatistics) -> Callable[[str], float]:
    """log(texts / texts with the word), as a share of the largest there can be."""
    size = max(2, len(statistics))

    @lru_cache(maxsize=100_000)
    def idf(word: str) -> float:
        return log(size / max(1, statistics.document_frequency(word))) / log(size)

    return idf


def _part_of_speech(word: Word) -> list[bool]:
    known = [word.pos == part for part in _PARTS]
    return [*known, not any(known)]
