"""English words in the form that a place in a text asks for: number, tense, degree."""

import gzip
from functools import cache
from importlib.resources import files

from models.rewriting.lexicon.rules import regular

_FIRST_WORD = ("VB",)  # "put to death" inflects its first word, "heart attack" its last
_VERB_TAGS = ("VB", "VBZ", "VBD", "VBN", "VBG")
_JOINING = frozenset("of in at to for with from by on".split())  # "man of war": "men of war"


@cache
def inflect(lemma: str, tag: str) -> str:
    """The form of a lemma for a Penn tag (NNS, VBD, JJR …); the lemma for a tag that changes nothing.

    A lemma of several words inflects its head. Proper nouns are left as they are: their plurals are guesses.
    """
    if tag in ("NNP", "NNPS") or not _is_inflected(tag):
        return lemma
    before, head, after = _head(lemma.split(" "), tag)
    return " ".join([*before, _form(head, tag), *after])


def verb_forms(lemma: str) -> tuple[str, ...]:
    """All different forms of a verb, the base first: take, takes, took, taken, taking."""
    return tuple(dict.fromkeys(inflect(lemma, tag) for tag in _VERB_TAGS))


def _is_inflected(tag: str) -> bool:
    return tag in {"NNS", "VBZ", "VBD", "VBN", "VBG", "JJR", "JJS", "RBR", "RBS"}


def _head(words: list[str], tag: str) -> tuple[list[str], str, list[str]]:
    at = 0
    if not tag.startswith(_FIRST_WORD):
        at = next((i - 1 for i, word in enumerate(words) if word in _JOINING and i), len(words) - 1)
    return words[:at], words[at], words[at + 1 :]


def _form(word: str, tag: str) -> str:
    """Adverbs compare as adjectives do where the table has no entry of their own."""
    irregular = _irregular()
    return irregular.get(f"{tag} {word}") or _auxiliary(word, tag) or regular(word, tag)


def _auxiliary(word: str, tag: str) -> str | None:
    return {"VBZ": "is", "VBD": "was", "VBN": "been", "VBG": "being"}.get(tag) if word == "be" else None


@cache
def _irregular() -> dict[str, str]:
    """Tag and lemma to the form, where it is not the regular one: 5,000 entries."""
    content = files("models.rewriting.lexicon").joinpath("inflections.txt.gz").read_bytes()
    entries = (line.partition("\t") for line in gzip.decompress(content).decode().splitlines())
    return {entry: form for entry, _, form in entries}
