"""How common a word is in a language at large, for policies that look for the rarest words of a claim.

A platform does not tell how often a word occurs there, and a young store holds too few texts to count in, so general
word frequencies (wordfreq) stand in: written as if counted in a collection of `SIZE` posts.
"""

from functools import cache

SIZE = 100_000_000  # pretended posts: fine enough for wordfreq's rarest entries (1e-8)
_UNSPLIT = {"zh", "ja", "ko"}  # wordfreq looks them up only with dictionaries that it does not bring along


class WordFrequency:
    """Implements TermStatistics over the claim's language and English, since names and loan words cross borders."""

    def __init__(self, language: str) -> None:
        self._languages = tuple(code for code in dict.fromkeys((language, "en")) if code in _known_languages())

    def document_frequency(self, word: str) -> int:
        """At least 1: a word that no list knows, like a small town's name, is the rarest of all and can still occur."""
        from wordfreq import word_frequency

        return max(1, round(SIZE * max(word_frequency(word, language) for language in self._languages)))

    def __len__(self) -> int:
        return SIZE


@cache
def _known_languages() -> frozenset[str]:
    from wordfreq import available_languages

    return frozenset(available_languages("small")) - _UNSPLIT
