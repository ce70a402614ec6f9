"""Text to tokens. An index and the queries put to it share one analyser, so that equal words are equal tokens."""

import re
import threading
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain

import Stemmer

from models.retrieval import stop_words

_ASCII_WORD = re.compile(r"[a-z0-9]+")
# Marks that only decorate a letter: Latin, Greek, Cyrillic accents, Hebrew and Arabic points, Arabic lengthening. Vowel
# signs of South and South-East Asian scripts are letters in all but name, and stay.
_DECORATION = re.compile(
    r"[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]"
)
_STEMMING = threading.Lock()  # a Snowball stemmer serves one thread at a time
_MOST_REMEMBERED = 200_000  # words, some 40 MB


@dataclass(frozen=True, slots=True)
class Analyser:
    """Lower-cased words, less the stop words, as English Snowball stems if `stem`.

    A word is a run of letters, digits and their marks in any script, compatibility forms and accents folded ("Ｃafé" is
    "cafe"); on ASCII text that is `[a-z0-9]+`. With `ascii_only` it is so on any text: other characters end a word.
    """

    stem: bool = True
    stop_words: frozenset[str] = frozenset()
    ascii_only: bool = False

    def __call__(self, text: str) -> list[str]:
        words = _ASCII_WORD.findall(text.lower()) if self.ascii_only else any_word().findall(text)
        return list(chain.from_iterable(map(_remembered(self).__getitem__, words)))

    def tokens_of_word(self, word: str) -> tuple[str, ...]:
        """None for a stop word; several where folding or an underscore cuts a word ("½" is "1", "2")."""
        parts = [word] if self.ascii_only else any_word().findall(_folded(word).replace("_", " "))
        kept = [part for part in parts if part not in self.stop_words]
        return tuple(map(_stemmed, kept) if self.stem else kept)


ENGLISH = Analyser(stop_words=stop_words.ENGLISH)
BOOLEAN = Analyser()  # every word counts, since every word must occur
ENDPOINT = Analyser(ascii_only=True)  # tokens of the simulated platform by which rewriting is measured


@cache
def any_word() -> re.Pattern[str]:
    """Letters, digits and underscores of any script, with their combining marks, which `\\w` leaves out.

    Marks stand apart from `\\w`, since one class of both takes twice as long on text without any.
    """
    marks = "".join(chr(code) for code in range(0x300, 0x1E00) if unicodedata.category(chr(code)).startswith("M"))
    return re.compile(rf"\w+(?:[{marks}]+\w*)*")


class _Words(dict[str, tuple[str, ...]]):
    """The tokens of every word seen so far, each worked out once; a text is then little more than look-ups."""

    def __init__(self, analyser: Analyser) -> None:
        self._analyser = analyser

    def __missing__(self, word: str) -> tuple[str, ...]:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        tokens = self[word] = self._analyser.tokens_of_word(word)
        return tokens


@lru_cache(maxsize=16)
def _remembered(analyser: Analyser) -> _Words:
    return _Words(analyser)


def _folded(word: str) -> str:
    bare = _DECORATION.sub("", unicodedata.normalize("NFKD", word)).casefold()
    return unicodedata.normalize("NFKC", bare)


def _stemmed(word: str) -> str:
    with _STEMMING:
        return str(_snowball().stemWord(word))


@cache
def _snowball() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english", 0)  # its own cache is off: the words are remembered above
