"""The white space around words that an edit touched, and the pieces of text between white space that it changed."""

from collections.abc import Sequence
from dataclasses import replace

from models.rewriting.editable import Word

Pieces = tuple[str, ...]

_OPENING = frozenset("([{“‘«¿¡#@$£€\"'")
_CLOSING = frozenset(")]}”’».,;:!?…%\"'")


def text_of(words: Sequence[Word]) -> str:
    return "".join([word.text + word.space for word in words]).strip()


def without(words: tuple[Word, ...], at: int) -> tuple[Word, ...]:
    """The words less one; the one before it takes over the space, so that marks stay where they adhere."""
    if at == 0:
        return words[1:]
    before, rest = words[at - 1], words[at + 1 :]
    space = _gap(before, words[at], rest[0]) if rest else words[at].space
    if space == before.space:
        return words[:at] + rest
    return (*words[: at - 1], spaced(before, space), *rest)


def spaced(word: Word, space: str) -> Word:
    return word if word.space == space else word.once(f"before {space!r}", lambda w: replace(w, space=space)) or word


def _gap(before: Word, gone: Word, after: Word) -> str:
    if before.space and gone.space:
        return before.space
    if before.space:  # what comes after adhered to the word that is gone
        return "" if after.text[0] in _CLOSING else before.space
    if gone.space:  # the word that is gone adhered to what comes before
        return "" if before.text[-1] in _OPENING else gone.space
    return " " if before.text[-1].isalnum() and after.text[0].isalnum() else ""


def changed_pieces(old: tuple[Word, ...], new: tuple[Word, ...], at: int) -> tuple[Pieces, Pieces]:
    """The pieces between white space that left and came, for texts that differ only around the word `at`.

    An index never joins words over white space, so the tokens of the new text are exactly those of the old one less
    those of the pieces that left, plus those of the pieces that came.
    """
    start = max(at - 1, 0)
    while start > 0 and not old[start - 1].space:
        start -= 1
    end = at + 1
    while end < len(old) and not old[end].space:
        end += 1
    tail = len(old) - min(end + 1, len(old))
    left = text_of(old[start : len(old) - tail]).split()
    came = text_of(new[start : len(new) - tail]).split()
    return _without_common_ends(left, came)


def _without_common_ends(left: list[str], came: list[str]) -> tuple[Pieces, Pieces]:
    shortest = min(len(left), len(came))
    head = next((i for i in range(shortest) if left[i] != came[i]), shortest)
    left, came = left[head:], came[head:]
    shortest = min(len(left), len(came))
    tail = next((i for i in range(shortest) if left[-1 - i] != came[-1 - i]), shortest)
    return tuple(left[: len(left) - tail]), tuple(came[: len(came) - tail])
