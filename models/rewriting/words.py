"""The words of a claim that a query can be made of."""

import re
from functools import cache

from models.retrieval import stop_words as english
from models.retrieval.analyser import any_word
from models.retrieval.statistics import TermStatistics

LINK = re.compile(r"https?://\S+|www\.\S+")
# What other words left on a word: French and Italian articles ("l'eau", "dell'acqua"), the English genitive and verbs.
_ADHERING = re.compile(
    r"^(?:\w{1,2}|\w*ll|qu|jusqu|lorsqu|puisqu)['’](?=\w{2})|['’](?:s|re|ve|ll|d|m)?$", re.IGNORECASE
)
NEGATIONS = frozenset("no not never none nor neither without cannot".split())  # and all in "n't"


def words(text: str) -> list[str]:
    """All words in order, as written, without links and what marks a word as a tag, a handle or quoted."""
    return _any_compound().findall(LINK.sub(" ", text))


def content_words(text: str, language: str) -> list[str]:
    """Words that say what the claim is about, each once, in order: no function words, no negations."""
    kept: dict[str, str] = {}
    for word in words(text):
        if content := content_word(word, language):
            kept.setdefault(content.lower(), content)
    return list(kept.values())


def content_word(word: str, language: str) -> str | None:
    """The word without what adheres to it ("vaccine's", "l'eau"); None for a function word or a negation."""
    bare = _ADHERING.sub("", word)
    forms = {form.lower().replace("’", "'") for form in (word, bare)}
    is_skipped = forms & function_words(language) or any(form.endswith("n't") for form in forms)
    return None if is_skipped else bare


@cache
def _any_compound() -> re.Pattern[str]:
    """Words of any script with inner apostrophes, hyphens and points ("covid-19", "l'eau", "2.5")."""
    word = any_word().pattern
    return re.compile(rf"{word}(?:['’.\-‑]{word})*")


@cache
def function_words(language: str) -> frozenset[str]:
    """Stop words and negations of a language, and of English, which is mixed into all."""
    from stop_words import StopWordError, get_stop_words

    common = english.ENGLISH | NEGATIONS
    if language == "en":  # the package's English list holds "bill" and "billion"
        return common
    try:
        return common | frozenset(get_stop_words(language))
    except StopWordError:
        return common


def rarest(candidates: list[str], statistics: TermStatistics, n: int) -> list[str]:
    """The n words that occur least, the rarest first, equal ones in the order of the claim."""
    return sorted(candidates, key=statistics.document_frequency)[:n]
