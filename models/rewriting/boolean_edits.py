"""The edit environment of boolean endpoints: from the two rarest content words of a claim to an AND of OR groups.

A claim sent whole finds nothing there, so an episode starts small and also adds words (spec, "Three kinds of search
endpoint"). Action = 32 x kind + position, with the kinds of `edits` as 0 to 3 and "add word" as 4; a position is a
content word of the claim, the same for the whole episode. Of a longer claim the 32 rarest content words have positions.
"""

from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from domain.query import Arm, Edit, EndpointKind, Query, Term
from models.retrieval.statistics import TermStatistics
from models.rewriting.editable import Word, editable_words, synonym
from models.rewriting.edits import ADD_SYNONYM, NAMES, POSITIONS, PRESENT, REMOVE, SWAP
from models.rewriting.lexicon.inflection import verb_forms
from models.rewriting.tagging import Token
from models.rewriting.words import content_word, rarest, words

ADD_WORD = 4
BOOLEAN_NAMES = (*NAMES, "add word")
BOOLEAN_ACTIONS = len(BOOLEAN_NAMES) * POSITIONS

_START = "keep the rarest words"
_AT_START = 2  # nearly every best query has 1 to 3 of the claim's words


class Group(NamedTuple):
    """One OR group. `head`: the claim's word, or the synonym that has taken its place."""

    position: int
    head: Word
    terms: tuple[str, ...]  # the head's text first


class BooleanState(NamedTuple):
    content: tuple[Word, ...]  # at most 32, by position, in the order of the claim
    chosen: tuple[Group, ...]  # by position
    trail: tuple[Edit, ...] = ()

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The query as words. States that came to the same query on different paths have equal groups."""
        return tuple([group.terms for group in self.chosen])

    def query(self, *, policy: str) -> Query:
        groups = tuple(tuple(Term(text) for text in group.terms) for group in self.chosen)
        return Query(EndpointKind.BOOLEAN, groups, policy, self.trail, Arm.LEARNED)


class BooleanChild(NamedTuple):
    """What one legal edit makes of a state: at most one of its groups differs from the parent's."""

    action: int
    state: BooleanState


@dataclass(frozen=True, slots=True)
class BooleanEdits:
    """Same claim, statistics and actions, same query. The last group is never removed: an empty query asks for nothing.

    A content word is no function word and no negation, so that neither is ever in a query. Synonyms have the words that
    have them on ranked endpoints. Guarded (in production): names and numbers are only added and removed.
    """

    statistics: TermStatistics
    guarded: bool = False

    def start(self, tokens: tuple[Token, ...]) -> BooleanState:
        """The state of a tagged claim: its two rarest words that occur at all, fewer if it has no more. Without content
        words the state has no groups and no legal edit, and must not be sent."""
        content = self._content(tokens)
        texts = [word.text for word in content]
        findable = [text for text in texts if self.statistics.document_frequency(text)]
        return _start(content, rarest(findable or texts, self.statistics, _AT_START))

    def legal(self, state: BooleanState) -> NDArray[np.bool_]:
        """Which actions are legal, (160,)."""
        mask = np.zeros(BOOLEAN_ACTIONS, bool)
        mask[[child.action for child in self.children(state)]] = True
        return mask

    def children(self, state: BooleanState) -> list[BooleanChild]:
        """All legal edits with what they make of the state, by action."""
        groups, there = _by_position(state), _there(state)
        every = (
            _child(state, groups, kind, position, there)
            for kind in range(len(BOOLEAN_NAMES))
            for position in range(len(state.content))
        )
        return [child for child in every if child is not None]

    def apply(self, state: BooleanState, action: int) -> BooleanState:
        """Raises ValueError for an action that is illegal here."""
        if not 0 <= action < BOOLEAN_ACTIONS:
            raise ValueError(f"there is no action {action}: they go from 0 to {BOOLEAN_ACTIONS - 1}")
        kind, position = divmod(action, POSITIONS)
        if position >= len(state.content):
            raise ValueError(f"{BOOLEAN_NAMES[kind]} {position}: the claim has {len(state.content)} content words")
        child = _child(state, _by_position(state), kind, position, _there(state))
        if child is None:
            raise ValueError(f"{BOOLEAN_NAMES[kind]} {position}: illegal for {state.content[position].text!r} here")
        return child.state

    def replay(self, tokens: tuple[Token, ...], trail: tuple[Edit, ...]) -> BooleanState:
        """The state that a trail leads to, whatever the statistics say now of which words are the rarest. Raises
        ValueError if it is not a trail of this claim."""
        content = self._content(tokens)
        if not trail:
            return _start(content, [])
        if trail[0].action != _START:
            raise ValueError(f"{str(trail[0])!r} does not begin a boolean query")
        state = _start(content, trail[0].result.split(", "))
        for edit in trail[1:]:
            if edit.action not in BOOLEAN_NAMES or edit.position is None:
                raise ValueError(f"{str(edit)!r} is not an edit that can be replayed")
            state = self.apply(state, BOOLEAN_NAMES.index(edit.action) * POSITIONS + edit.position)
            if state.trail[-1] != edit:
                raise ValueError(f"the trail says {str(edit)!r}, but this claim gives {str(state.trail[-1])!r}")
        return state

    def _content(self, tokens: tuple[Token, ...]) -> tuple[Word, ...]:
        by_text: dict[str, Word] = {}
        for word in _content_words(editable_words(tokens, guarded=self.guarded)):
            by_text.setdefault(word.text.lower(), word)
        if len(by_text) <= POSITIONS:
            return tuple(by_text.values())
        kept = set(rarest(list(by_text), self.statistics, POSITIONS))
        return tuple(word for text, word in by_text.items() if text in kept)


def way(state: BooleanState, wanted: Set[str]) -> list[int]:
    """The shortest edits from a state to a set of the claim's content words, as they are written there: what is added,
    then what is removed."""
    positions = {word.text: position for position, word in enumerate(state.content)}
    target, there = {positions[text] for text in wanted}, {group.position for group in state.chosen}
    added = [ADD_WORD * POSITIONS + position for position in sorted(target - there)]
    return added + [REMOVE * POSITIONS + position for position in sorted(there - target)]


def _content_words(edited: tuple[Word, ...]) -> Iterator[Word]:
    """The words that plain policies make queries of. One that the tagger cut ("5G", "anti-vaccine") has no edits."""
    piece: list[Word] = []  # between white space
    for at, word in enumerate(edited):
        piece.append(word)
        if word.space or at == len(edited) - 1:
            by_text = {word.text: word for word in piece}
            for part in words("".join(word.text for word in piece)):
                if text := content_word(part, "en"):
                    yield by_text.get(text) or Word(text, " ", text, "X", "XX")
            piece = []


def _start(content: tuple[Word, ...], texts: list[str]) -> BooleanState:
    positions = {word.text: position for position, word in enumerate(content)}
    if unknown := [text for text in texts if text not in positions]:
        raise ValueError(f"not among the content words of this claim: {', '.join(unknown)}")
    chosen = tuple(Group(at, content[at], (content[at].text,)) for at in sorted(positions[text] for text in texts))
    return BooleanState(content, chosen, (Edit(_START, result=", ".join(texts)),) if texts else ())


def _by_position(state: BooleanState) -> dict[int, Group]:
    return {group.position: group for group in state.chosen}


def _there(state: BooleanState) -> set[str]:
    """What a synonym must not be: every term of the query, and the lemmas of its heads."""
    there = {term.lower() for group in state.chosen for term in group.terms}
    there.update([group.head.lemma.lower() for group in state.chosen])
    return there


def _child(
    state: BooleanState, groups: dict[int, Group], kind: int, position: int, there: set[str]
) -> BooleanChild | None:
    """None if the edit is illegal."""
    group = groups.get(position)
    if kind == ADD_WORD:
        word = state.content[position]
        wider = groups | {position: Group(position, word, (word.text,))}
        return None if group else _made(state, kind, word, wider, position=position)
    if group is None:
        return None
    if kind == REMOVE:
        others = {at: other for at, other in groups.items() if at != position}
        return _made(state, kind, group.head, others, position=position) if others else None
    if not group.head.is_editable or (edited := _EDITS[kind](group, there)) is None:
        return None
    return _made(state, kind, group.head, groups | {position: edited[0]}, position=position, result=edited[1])


def _swapped(group: Group, there: set[str]) -> tuple[Group, str] | None:
    new = synonym(group.head, there)
    return None if new is None else (Group(group.position, new, (new.text, *group.terms[1:])), new.text)


def _widened(group: Group, there: set[str]) -> tuple[Group, str] | None:
    new = synonym(group.head, there)
    return None if new is None else (group._replace(terms=(*group.terms, new.text)), new.text)


def _with_forms(group: Group, there: set[str]) -> tuple[Group, str] | None:
    """The verb's other forms, so that a platform that does not stem finds them too."""
    if group.head.pos != "VERB":
        return None
    known = {term.lower() for term in group.terms}
    forms = tuple(form for form in verb_forms(group.head.lemma) if form.lower() not in known)
    return (group._replace(terms=group.terms + forms), ", ".join(forms)) if forms else None


_EDITS: dict[int, Callable[[Group, set[str]], tuple[Group, str] | None]] = {
    SWAP: _swapped,
    ADD_SYNONYM: _widened,
    PRESENT: _with_forms,
}


def _made(
    state: BooleanState, kind: int, word: Word, groups: dict[int, Group], *, position: int, result: str = ""
) -> BooleanChild:
    """The result names what joined the query or took the word's place."""
    edit = Edit(BOOLEAN_NAMES[kind], word.text, result, position)
    chosen = tuple([groups[at] for at in sorted(groups)])
    return BooleanChild(kind * POSITIONS + position, BooleanState(state.content, chosen, (*state.trail, edit)))
