"""The words of a claim that a query can be made of."""

import re
from functools import cache

from models.retrieval import stop_words as english
from models.retrieval.statistics import TermStatistics

# Letters and digits of any script, with inner apostrophes, hyphens and points ("covid-19", "l'eau", "2.5").
_WORD = re.compile(r"[^\W_]+(?:['’.\-‑][^\W_]+)*")
_NEGATIONS = frozenset(
    "no not never none nor neither without isn't wasn't aren't don't doesn't didn't won't can't cannot".split()
)


def words(text: str) -> list[str]:
    """All words in order, as written."""
    return _WORD.findall(text)


def content_words(text: str, language: str) -> list[str]:
    """Words that say what the claim is about, each once, in order: no function words, no negations."""
    skipped = function_words(language)
    kept: dict[str, str] = {}
    for word in words(text):
        if word.lower().replace("’", "'") not in skipped:
            kept.setdefault(word.lower(), word)
    return list(kept.values())


@cache
def function_words(language: str) -> frozenset[str]:
    """Stop words and negations of a language, and of English, which is mixed into all."""
    from stop_words import StopWordError, get_stop_words

    common = english.ENGLISH | _NEGATIONS
    if language == "en":  # the package's English list holds "bill" and "billion"
        return common
    try:
        return common | frozenset(get_stop_words(language))
    except StopWordError:
        return common


def rarest(candidates: list[str], statistics: TermStatistics, n: int) -> list[str]:
    """The n words that occur least, the rarest first, equal ones in order; words that occur nowhere only if need be."""
    ranked = sorted(candidates, key=statistics.document_frequency)
    known = [word for word in ranked if statistics.document_frequency(word) > 0]
    unknown = [word for word in ranked if statistics.document_frequency(word) == 0]
    return (known + unknown)[:n]
