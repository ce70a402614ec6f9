"""A word of a claim with what edits may make of it: its synonyms, its present simple, and whether it may go."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from models.rewriting.lexicon.inflection import inflect
from models.rewriting.lexicon.synonyms import synonyms
from models.rewriting.tagging import Token, is_word
from models.rewriting.words import NEGATIONS

# Paper §3.2: verbs take all edits, these all but the change of tense. WordNet has names among its nouns.
_WITH_SYNONYMS = frozenset(("VERB", "NOUN", "PROPN", "ADJ", "ADV"))
_PRESENT = frozenset(("VBZ", "VBP"))
_DENIALS = NEGATIONS | {"nobody", "noone", "nothing", "nowhere", "hardly", "barely", "nt"}


@dataclass(frozen=True, slots=True)
class Word:
    """Part of speech and tag stay those of the claim's word, whatever word has taken its place."""

    text: str
    space: str  # white space that follows
    lemma: str
    pos: str
    tag: str
    options: tuple[str, ...] = ()  # lemmas of synonyms that were not used yet, best first
    has_plural_subject: bool = False
    is_editable: bool = False  # may be swapped, given a synonym, put into the present simple
    is_removable: bool = True
    is_content: bool = False  # says what the claim is about
    information: float = 0.0  # which words are numbered if there are too many
    # States share their words, and a search asks the same of a word in thousands of them: each answer is kept here.
    _made: dict[str, "Word | None"] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, what: str, make: "Callable[[Word], Word | None]") -> "Word | None":
        """What `make` makes of the word, worked out at the first question of that name."""
        if what not in self._made:
            self._made[what] = make(self)
        return self._made[what]

    def is_there(self, there: set[str]) -> bool:
        return self.text.lower() in there or self.lemma.lower() in there


def editable_words(tokens: tuple[Token, ...], *, guarded: bool) -> tuple[Word, ...]:
    """The words as an episode starts with them. Guarded: negations are fixed, names and numbers are only removed."""
    befores = (None, *tokens)
    return tuple(_editable(token, before, guarded=guarded) for token, before in zip(tokens, befores, strict=False))


def _editable(token: Token, before: Token | None, *, guarded: bool) -> Word:
    denies = _denies(token, before)
    is_editable = token.pos in _WITH_SYNONYMS and not token.is_stop and is_word(token)
    if guarded and (denies or _is_name_or_number(token, is_first=before is None)):
        is_editable = False
    options = synonyms(token.lemma, token.pos) if is_editable else ()
    return Word(
        token.text,
        token.space,
        token.lemma,
        token.pos,
        token.tag,
        options,
        token.has_plural_subject,
        is_editable,
        is_removable=not (guarded and denies),
        is_content=is_word(token) and not token.is_stop and not denies,
    )


def _denies(token: Token, before: Token | None) -> bool:
    """ "No one" is two words, of which "no" alone would deny something else."""
    is_second_half = token.text.lower() == "one" and before is not None and before.text.lower() == "no"
    return is_second_half or not _DENIALS.isdisjoint((token.text.lower(), token.lemma.lower()))


def _is_name_or_number(token: Token, *, is_first: bool) -> bool:
    """Tags alone miss names that are tagged as nouns ("Facebook") and adjectives of names ("Chinese")."""
    written_as_name = not is_first and token.text[:1].isupper()
    return token.pos in {"PROPN", "NUM"} or written_as_name or any(map(str.isdigit, token.text))


def words_there(words: tuple[Word, ...]) -> set[str]:
    """What a synonym must not be: every word of the text, as written and as a lemma, in lower case."""
    there = {word.text.lower() for word in words}
    there.update([word.lemma.lower() for word in words])
    return there


def synonym(word: Word, there: set[str]) -> Word | None:
    """The word's best synonym that is not there, in the word's form and case; None if there is none.

    Its own synonyms are those that come after it in the word's list, so that swapping on goes through all of them.
    """
    candidate = word.once("synonym", _next_synonym)
    while candidate is not None and candidate.is_there(there):
        candidate = candidate.once("synonym", _next_synonym)
    return candidate


def present_simple(word: Word) -> Word | None:
    """The verb in the present simple, agreeing with its subject; None if it is no verb or the text would not change."""
    return word.once("present", _present_simple) if word.pos == "VERB" else None


def _next_synonym(word: Word) -> Word | None:
    if not word.options:
        return None
    lemma, *others = word.options
    text = _in_case_of(word, inflect(lemma, word.tag))
    return replace(word, text=text, lemma=lemma, options=tuple(others))


def _present_simple(word: Word) -> Word | None:
    if not word.is_editable or word.tag in _PRESENT:
        return None
    tag = "VBP" if word.has_plural_subject else "VBZ"
    text = _in_case_of(word, inflect(word.lemma, tag))
    return None if text.lower() == word.text.lower() else replace(word, text=text, tag=tag)


def _in_case_of(word: Word, text: str) -> str:
    if word.text[0].islower():
        return text
    if word.pos != "PROPN" and len(word.text) > 1 and word.text.isupper():
        return text.upper()
    return text[0].upper() + text[1:]
