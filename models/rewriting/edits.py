"""The edit environment of ranked and dense endpoints: 128 edits of a text, which are legal, what becomes of it.

Paper §3.2, table 1. Action = 32 x kind + position; a position counts the words and marks of the current text, so that
an added word shifts those after it. Of a longer text the 32 tokens that tell most are numbered, the others stay.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from heapq import nlargest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from domain.query import Arm, Edit, EndpointKind, Query, Term
from models.retrieval.statistics import TermStatistics
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.editable import Word, editable_words, present_simple, synonym, words_there
from models.rewriting.spacing import Pieces, changed_pieces, spaced, text_of, without
from models.rewriting.tagging import Token, is_word

POSITIONS = 32
ACTIONS = 4 * POSITIONS

# Kinds. Plain numbers, since an enumeration's are slow and this is asked millions of times.
SWAP, ADD_SYNONYM, PRESENT, REMOVE = range(4)
NAMES = ("swap", "add synonym", "present simple", "remove")


class EditState(NamedTuple):
    """A text on its way from claim to query. Light: words that an edit left alone are shared between states."""

    words: tuple[Word, ...]
    trail: tuple[Edit, ...] = ()

    @property
    def text(self) -> str:
        return text_of(self.words)

    @property
    def positions(self) -> tuple[int, ...]:
        """Which word each position is: all, or the 32 that tell most, in the order of the text."""
        if len(self.words) <= POSITIONS:
            return tuple(range(len(self.words)))
        most = nlargest(POSITIONS, range(len(self.words)), key=lambda at: self.words[at].information)
        return tuple(sorted(most))

    def query(self, kind: EndpointKind, *, policy: str) -> Query:
        groups = tuple((Term(word),) for word in self.text.split())
        return Query(kind, groups, policy, self.trail, Arm.LEARNED)


class Child(NamedTuple):
    """What one legal edit makes of a state. `removed` and `added` are the pieces of text between white space that left
    and came ("vaccine," with its comma), for an index to take from and add to its terms; a piece may be several words.
    """

    action: int
    state: EditState
    removed: Pieces
    added: Pieces


@dataclass(frozen=True, slots=True)
class TextEdits:
    """Same claim and actions, same text. Guarded (in production): a negation and the last content word stay, names and
    numbers are only removed. Else all that the paper allows: verbs take all edits, nouns (names too), adjectives and
    adverbs all but the tense, stop words and everything else are only removed. An edit that changes nothing is illegal.
    """

    guarded: bool = False
    statistics: TermStatistics = field(default_factory=lambda: WordFrequency("en"))  # which words tell most

    def start(self, tokens: tuple[Token, ...]) -> EditState:
        """The state of a tagged claim. No tokens, no legal edit."""
        words = editable_words(tokens, guarded=self.guarded)
        return EditState(tuple(map(self._with_information, words, tokens)))

    def legal(self, state: EditState) -> NDArray[np.bool_]:
        """Which actions are legal, (128,)."""
        mask = np.zeros(ACTIONS, bool)
        there, last = words_there(state.words), self._last_content(state)
        for position, at in enumerate(state.positions):
            word = state.words[at]
            mask[position] = mask[position + POSITIONS] = synonym(word, there) is not None
            mask[position + 2 * POSITIONS] = present_simple(word) is not None
            mask[position + 3 * POSITIONS] = word.is_removable and at != last
        return mask

    def children(self, state: EditState) -> list[Child]:
        """All legal edits with what they make of the state, by action."""
        there, last, positions = words_there(state.words), self._last_content(state), state.positions
        found: list[Child] = []
        for kind in range(len(NAMES)):
            for position, at in enumerate(positions):
                child = _child(state, kind, position, at, there, last)
                if child is not None:
                    found.append(child)
        return found

    def apply(self, state: EditState, action: int) -> EditState:
        """Raises ValueError for an action that is illegal here."""
        if not 0 <= action < ACTIONS:
            raise ValueError(f"there is no action {action}: they go from 0 to {ACTIONS - 1}")
        kind, position = divmod(action, POSITIONS)
        positions = state.positions
        if position >= len(positions):
            raise ValueError(f"{NAMES[kind]} {position}: the text has {len(positions)} positions")
        at = positions[position]
        child = _child(state, kind, position, at, words_there(state.words), self._last_content(state))
        if child is None:
            raise ValueError(f"{NAMES[kind]} {position}: not a legal edit of {state.words[at].text!r}")
        return child.state

    def replay(self, tokens: tuple[Token, ...], trail: tuple[Edit, ...]) -> EditState:
        """The state that a trail leads to. Raises ValueError if it is not a trail of this claim."""
        state = self.start(tokens)
        for edit in trail:
            if edit.action not in NAMES or edit.position is None:
                raise ValueError(f"{str(edit)!r} is not an edit that can be replayed")
            state = self.apply(state, NAMES.index(edit.action) * POSITIONS + edit.position)
            if state.trail[-1] != edit:
                raise ValueError(f"the trail says {str(edit)!r}, but this claim gives {str(state.trail[-1])!r}")
        return state

    def _with_information(self, word: Word, token: Token) -> Word:
        """Content words before function words before marks, within each the rarer first."""
        if not is_word(token):
            return word
        rarity = 1 - self.statistics.document_frequency(word.text) / max(1, len(self.statistics))
        return replace(word, information=rarity + (1 if token.is_stop else 2))

    def _last_content(self, state: EditState) -> int:
        """Where the only content word stands, which must stay, or the only word of any kind; -1 if there are more."""
        if not self.guarded:
            return -1
        content = [at for at, word in enumerate(state.words) if word.is_content] or range(len(state.words))
        return content[0] if len(content) == 1 else -1


def _child(state: EditState, kind: int, position: int, at: int, there: set[str], last: int) -> Child | None:
    """`last`: the word that must not be removed. None if the edit is illegal."""
    word = state.words[at]
    if kind == REMOVE:
        return _removal(state, position, at) if word.is_removable and at != last else None
    if not word.is_editable:
        return None
    new = present_simple(word) if kind == PRESENT else synonym(word, there)
    if new is None:
        return None
    make = _addition if kind == ADD_SYNONYM else _replacement
    return make(state, kind, position, at, new)


def _replacement(state: EditState, kind: int, position: int, at: int, new: Word) -> Child:
    words = state.words
    edited = (*words[:at], new, *words[at + 1 :])
    pieces = ((words[at].text,), (new.text,)) if _stands_alone(words, at) else changed_pieces(words, edited, at)
    return _made(state, kind, position, edited, pieces, word=words[at], result=new)


def _addition(state: EditState, kind: int, position: int, at: int, new: Word) -> Child:
    """The synonym stands right after its word and takes over what followed that."""
    words = state.words
    word = words[at]
    edited = (*words[:at], spaced(word, word.space or " "), new, *words[at + 1 :])
    pieces = ((), (new.text,)) if _stands_alone(words, at) else changed_pieces(words, edited, at)
    return _made(state, kind, position, edited, pieces, word=word, result=new)


def _removal(state: EditState, position: int, at: int) -> Child:
    words = state.words
    edited = without(words, at)
    pieces = ((words[at].text,), ()) if _stands_alone(words, at) else changed_pieces(words, edited, at)
    return _made(state, REMOVE, position, edited, pieces, word=words[at], result=None)


def _stands_alone(words: tuple[Word, ...], at: int) -> bool:
    return (not at or words[at - 1].space != "") and (words[at].space != "" or at == len(words) - 1)


def _made(
    state: EditState,
    kind: int,
    position: int,
    words: tuple[Word, ...],
    pieces: tuple[Pieces, Pieces],
    *,
    word: Word,
    result: Word | None,
) -> Child:
    edit = _edit(kind, word.text, result.text if result else "", position)
    return Child(kind * POSITIONS + position, EditState(words, (*state.trail, edit)), *pieces)


@lru_cache(maxsize=100_000)  # most are made again and again on other paths to the same text
def _edit(kind: int, word: str, result: str, position: int) -> Edit:
    return Edit(NAMES[kind], word, result, position)
