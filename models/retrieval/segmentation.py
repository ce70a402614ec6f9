"""Words run together without a capital between them, as in `#stopthesteal`, taken apart.

The likeliest cut under how often words occur in English (wordfreq): the product of their frequencies, where a string
that no list knows counts as a word that is ten times rarer with each letter.
"""

import math
from functools import lru_cache

LEAST, MOST = 6, 40  # letters: a shorter word is mostly one, and nobody reads a longer one as words
_LONGEST = 20  # letters of one word
_UNKNOWN = -8.0  # log10 of the frequency of an unknown letter: that of wordfreq's rarest words
_UNKNOWN_LETTER = -1.0


def split_run(word: str) -> tuple[str, ...]:
    """The words of a run of ASCII letters, in its own case; the word alone where it is one or is out of bounds."""
    if not (LEAST <= len(word) <= MOST and word.isascii() and word.isalpha()):
        return (word,)
    return _likeliest(word)


@lru_cache(maxsize=1 << 14)
def _likeliest(word: str) -> tuple[str, ...]:
    """Viterbi: the best cut of every beginning, from those of the shorter ones."""
    letters = word.lower()
    best: list[tuple[float, int]] = [(0.0, 0)]  # of letters[:end]: log likelihood, where the last word begins
    for end in range(1, len(letters) + 1):
        starts = range(max(0, end - _LONGEST), end)
        best.append(max((best[start][0] + _log_frequency(letters[start:end]), start) for start in starts))
    words: list[str] = []
    end = len(word)
    while end:
        start = best[end][1]
        words.append(word[start:end])
        end = start
    return tuple(reversed(words))


@lru_cache(maxsize=1 << 16)
def _log_frequency(word: str) -> float:
    from wordfreq import word_frequency

    frequency = word_frequency(word, "en")
    return math.log10(frequency) if frequency > 0 else _UNKNOWN + _UNKNOWN_LETTER * len(word)
