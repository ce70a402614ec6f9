"""Boolean search over texts in memory: an AND of OR groups, newest first, by posting bitmaps."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import reduce

from pyroaring import BitMap

from domain.query import EndpointKind, OrGroup, Query
from domain.search_index import Hit
from models.retrieval.analyser import BOOLEAN

_NOTHING = BitMap()


class BooleanIndex:
    """A `SearchIndex` of kind boolean, and `TermStatistics`.

    A word of several tokens ("covid-19") is there if all of them are; a word without tokens is nowhere. Weights are not
    looked at, and every hit scores 1.
    """

    kind = EndpointKind.BOOLEAN

    def __init__(self, analyser: Callable[[str], Sequence[str]] = BOOLEAN) -> None:
        self._analyser = analyser
        self._next = 0  # texts are numbered in order of arrival
        self._ids: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._tokens: dict[int, frozenset[str]] = {}
        self._postings: dict[str, BitMap] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        self.remove(ids)
        newest = _last_of_each(ids, texts)
        arrivals: defaultdict[str, list[int]] = defaultdict(list)
        for number, (id_, text) in enumerate(newest.items(), start=self._next):
            tokens = frozenset(self._analyser(text))
            self._ids[number], self._numbers[id_], self._tokens[number] = id_, number, tokens
            for token in tokens:
                arrivals[token].append(number)
        self._next += len(newest)
        for token, numbers in arrivals.items():
            self._postings.setdefault(token, BitMap()).update(numbers)

    def remove(self, ids: Sequence[str]) -> None:
        for id_ in ids:
            number = self._numbers.pop(id_, None)
            if number is None:
                continue
            del self._ids[number]
            for token in self._tokens.pop(number):
                self._postings[token].discard(number)
                if not self._postings[token]:
                    del self._postings[token]

    def search(self, query: Query, k: int) -> list[Hit]:
        found = reduce(BitMap.intersection, self._groups(query))
        newest = found[-k:] if k > 0 else _NOTHING
        return [Hit(self._ids[number], 1.0) for number in reversed(list(newest))]

    def count(self, query: Query) -> int:
        """How many texts match, without listing them."""
        *others, largest = self._groups(query)
        return reduce(BitMap.intersection, others).intersection_cardinality(largest) if others else len(largest)

    def document_frequency(self, word: str) -> int:
        return len(self._word(word))

    def _groups(self, query: Query) -> list[BitMap]:
        """What each group matches, the rarest first; nothing for a query without groups."""
        return sorted(map(self._group, query.groups), key=len) or [_NOTHING]

    def _group(self, group: OrGroup) -> BitMap:
        return BitMap.union(_NOTHING, *(self._word(term.text) for term in group))

    def _word(self, word: str) -> BitMap:
        postings = [self._postings.get(token, _NOTHING) for token in self._analyser(word)]
        return reduce(BitMap.intersection, postings) if postings else _NOTHING


def _last_of_each(ids: Sequence[str], texts: Sequence[str]) -> dict[str, str]:
    """The last text of each id, in the order of these last texts."""
    last: dict[str, str] = {}
    for id_, text in zip(ids, texts, strict=True):
        last.pop(id_, None)
        last[id_] = text
    return last
