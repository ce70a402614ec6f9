"""Boolean queries in a platform's own words: whatever stands in a claim comes out as words, never as an operator.

A term becomes its words, every sign between them gone: one word stands bare, several, or one that the platform would
take for an operator, as a quoted phrase. What is too long loses its least informative terms. Each change is an edit of
the query's trail.
"""

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod

from connectors.protocol import CompiledQuery
from domain.query import Edit, OrGroup, Query, Term

_OPERATORS = frozenset({"and", "or", "not"})
_JOINERS = frozenset("'’\u200c\u200d")  # within a word only
_MOST_ALTERNATIVES = 8  # queries that one becomes where a platform has no OR
_ADDRESS_PARTS = frozenset({"http", "https", "www"})


@dataclass(frozen=True, slots=True)
class Grammar:
    """How a platform writes AND of OR groups. `disjunction` None: it has no OR, and alternatives become queries."""

    characters: int
    conjunction: str = " "
    disjunction: str | None = " OR "
    word_prefix: str = ""
    reserved: frozenset[str] = _OPERATORS


def compile_boolean(query: Query, grammar: Grammar) -> list[CompiledQuery]:
    """Legal queries that together mean the query; none if it has no word."""
    groups, edits = _as_words(query)
    if not groups:
        return []
    alternatives = [groups]
    if grammar.disjunction is None:
        chosen = list(islice(product(*groups), _MOST_ALTERNATIVES))
        alternatives = [tuple((term,) for term in terms) for terms in chosen]
        edits = (*edits, *_left_out(groups, chosen))
    compiled = (_written(query, alternative, edits, grammar) for alternative in alternatives)
    return list({one.syntax: one for one in compiled if one.syntax}.values())


def _left_out(groups: tuple[OrGroup, ...], chosen: list[tuple[Term, ...]]) -> Iterator[Edit]:
    """What is not searched of a query with more alternatives than it may become queries."""
    why = f"without OR, a query becomes {_MOST_ALTERNATIVES} at most"
    for group, used in zip(groups, zip(*chosen, strict=True), strict=True):
        yield from (Edit("dropped", term.text, why) for term in group if term not in used)
    more = prod(map(len, groups)) - len(chosen)
    if more and sum(len(group) > 1 for group in groups) > 1:  # else the words say all
        yield Edit("dropped", f"{more} combination{'s' * (more > 1)} of alternatives", why)


def words_of(text: str) -> list[str]:
    """The words of a text: runs of letters, marks and digits; an apostrophe may stand within one."""
    signs = [char if _in_word(text, i) else " " for i, char in enumerate(text)]
    words = "".join(signs).split()
    return [word for word in words if word.lower() not in _ADDRESS_PARTS]


def _in_word(text: str, i: int) -> bool:
    if text[i] in _JOINERS:
        return 0 < i < len(text) - 1 and text[i - 1].isalpha() and text[i + 1].isalpha()
    return unicodedata.category(text[i])[0] in "LMN"


def _as_words(query: Query) -> tuple[tuple[OrGroup, ...], tuple[Edit, ...]]:
    """The groups with every term as its words, and what that changed."""
    groups, edits = [], []
    for group in query.groups:
        kept: dict[str, Term] = {}
        for term in group:
            words = " ".join(words_of(term.text))
            if words != term.text:
                edits.append(Edit("took as words", term.text, words) if words else Edit("dropped", term.text))
            if words:
                kept.setdefault(words.casefold(), replace(term, text=words))
        if kept:
            groups.append(tuple(kept.values()))
    return tuple(groups), tuple(edits)


def _written(query: Query, groups: tuple[OrGroup, ...], edits: tuple[Edit, ...], grammar: Grammar) -> CompiledQuery:
    quoted = [
        Edit("quoted", term.text, f'"{term.text}"')
        for group in groups
        for term in group
        if term.text.lower() in grammar.reserved
    ]
    order = _from_least_informative(groups)
    fits = bisect_left(
        range(len(order)), True, key=lambda n: len(_syntax(_without(groups, order[:n]), grammar)) <= grammar.characters
    )
    kept = _without(groups, order[:fits])
    dropped = [_too_long(groups[i][j]) for i, j in order[:fits]]
    trail = (*query.trail, *edits, *quoted, *dropped)
    return CompiledQuery(_syntax(kept, grammar), replace(query, groups=kept, trail=trail))


def _from_least_informative(groups: tuple[OrGroup, ...]) -> list[tuple[int, int]]:
    """Places of all terms in the order in which they go: last alternatives first, then small weights, short terms."""

    def worth(place: tuple[int, int]) -> tuple[int, float, int, int]:
        i, j = place
        return -j, groups[i][j].weight, len(groups[i][j].text), -i

    return sorted(((i, j) for i, group in enumerate(groups) for j in range(len(group))), key=worth)


def _without(groups: tuple[OrGroup, ...], places: list[tuple[int, int]]) -> tuple[OrGroup, ...]:
    gone = set(places)
    kept = (tuple(t for j, t in enumerate(group) if (i, j) not in gone) for i, group in enumerate(groups))
    return tuple(group for group in kept if group)


def _syntax(groups: tuple[OrGroup, ...], grammar: Grammar) -> str:
    return grammar.conjunction.join(_group(group, grammar) for group in groups)


def _group(group: OrGroup, grammar: Grammar) -> str:
    terms = [_term(term.text, grammar) for term in group]
    return f"({(grammar.disjunction or ' ').join(terms)})" if len(terms) > 1 else terms[0]


def _term(words: str, grammar: Grammar) -> str:
    bare = " " not in words and words.lower() not in grammar.reserved and not set(words) & _JOINERS
    return grammar.word_prefix + (words if bare else f'"{words}"')


def _too_long(term: Term) -> Edit:
    return Edit("dropped", term.text, "the query is too long")


def all_words(query: Query, most: int) -> tuple[list[str], tuple[Edit, ...]]:
    """The distinct words of all terms for an endpoint that ranks, at most `most`, and the trail that led there."""
    groups, edits = _as_words(query)
    terms = {
        word.casefold(): Term(word, term.weight) for group in groups for term in group for word in term.text.split()
    }
    surplus = sorted(terms, key=lambda word: (terms[word].weight, len(word)))[: max(0, len(terms) - most)]
    dropped = tuple(_too_long(terms[word]) for word in surplus)
    return [terms[word].text for word in terms if word not in set(surplus)], (*query.trail, *edits, *dropped)
