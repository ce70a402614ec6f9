"""Near-duplicate texts: the same words copied, with a word changed here and there.

Texts are compared by their runs of four characters (links, handles, case and signs aside): MinHash (datasketch) names
the texts worth comparing, and the share of common runs decides. A text without words is a copy of nothing.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from datasketch import MinHash

from domain.text import has_words, without_links_and_handles

_RUN = 4  # characters
_BANDS, _ROWS = 32, 4  # two texts that share 60 % of their runs meet in a band with 99 %
_LEAST_SHARED = 0.6
_MASK = (1 << 63) - 1


def bands_of(text: str) -> list[int]:
    """Hashes of the text's MinHash bands, each below 2^63; texts that share one are worth comparing."""
    runs = _runs(text)
    if not runs:
        return []
    signature = MinHash(num_perm=_BANDS * _ROWS, seed=1)
    signature.update_batch([run.encode() for run in runs])
    values = signature.hashvalues.reshape(_BANDS, _ROWS).tolist()
    return [_mixed(band) for band in values]


def is_copy(text: str, other: str) -> bool:
    """Whether two texts are near-duplicates."""
    ours, theirs = _runs(text), _runs(other)
    return bool(ours and theirs) and len(ours & theirs) >= _LEAST_SHARED * len(ours | theirs)


def copies_among(texts: Mapping[str, str], others: Iterable[str]) -> set[str]:
    """The keys of those texts that are near-duplicates of one of the others."""
    by_band: dict[int, set[str]] = {}
    for text in others:
        for band in bands_of(text):
            by_band.setdefault(band, set()).add(text)
    near = {key: {other for band in bands_of(text) for other in by_band.get(band, ())} for key, text in texts.items()}
    return {key for key, candidates in near.items() if any(is_copy(texts[key], other) for other in candidates)}


def _mixed(values: list[int]) -> int:
    mixed = 1469598103934665603
    for value in values:
        mixed = ((mixed ^ value) * 1099511628211) & ((1 << 64) - 1)
    return mixed & _MASK


@lru_cache(maxsize=4096)
def _runs(text: str) -> frozenset[str]:
    if not has_words(text):
        return frozenset()
    letters = "".join(char if char.isalnum() else " " for char in without_links_and_handles(text).casefold())
    spaced = f" {' '.join(letters.split())} "
    return frozenset(spaced[i : i + _RUN] for i in range(max(1, len(spaced) - _RUN + 1)))
