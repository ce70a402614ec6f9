"""Which text holds which term how often, as flat arrays."""

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Postings:
    """The texts that hold term t are documents[starts[t]:starts[t + 1]], ascending.

    After the terms comes one that no text holds, `unknown`, for words of a query that the texts lack. A text's number
    is the place of its id among all ids in string order, whatever order they came in, so that texts ordered by number
    are ordered by id.
    """

    ids: tuple[str, ...]
    terms: dict[str, int]
    starts: NDArray[np.int64]  # (terms + 2,)
    documents: NDArray[np.uint32]  # (postings,)
    frequencies: NDArray[np.float32]  # (postings,), weighted sum over the fields
    lengths: NDArray[np.float64]  # (texts,), weighted sum over the fields

    @property
    def unknown(self) -> int:
        return len(self.terms)

    def of(self, term: str) -> NDArray[np.uint32]:
        """The texts that hold a term."""
        number = self.terms.get(term, self.unknown)
        return self.documents[self.starts[number] : self.starts[number + 1]]


class TokenStore:
    """Texts as term numbers, one array a field. Changes are cheap; `postings` is one pass over everything."""

    def __init__(self, weights: Sequence[float]) -> None:
        self._weights = np.asarray(weights, dtype=np.float64)  # (fields,)
        self._texts: dict[str, tuple[array[int], ...]] = {}
        self._terms = _new_terms()
        self._has_lost_texts = False

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, id_: str, fields: Sequence[Sequence[str]]) -> None:
        """Tokens of each field, as many fields as there are weights. An id that is there already gets the new ones."""
        if len(fields) != len(self._weights):
            raise ValueError(f"{id_}: {len(fields)} fields for {len(self._weights)} weights")
        self.remove(id_)
        self._texts[id_] = tuple(array("i", map(self._terms.__getitem__, tokens)) for tokens in fields)

    def remove(self, id_: str) -> None:
        self._has_lost_texts |= self._texts.pop(id_, None) is not None

    def postings(self) -> Postings:
        if self._has_lost_texts:
            self._forget_unused_terms()
        ids = tuple(sorted(self._texts))
        n, fields = len(ids), len(self._weights)
        columns = [column for id_ in ids for column in self._texts[id_]]
        sizes = np.fromiter(map(len, columns), dtype=np.int64, count=n * fields)
        tokens = np.frombuffer(b"".join(columns), dtype=np.int32).astype(np.int64)
        # One number a token, (term, text, field) from high to low, so that one sort groups them all.
        keys = np.sort(tokens * (n * fields) + np.repeat(np.arange(n * fields), sizes))
        firsts = np.flatnonzero(np.diff(keys // fields, prepend=-1))
        cells = keys[firsts] // fields  # (postings,): term * n + text
        frequencies = np.add.reduceat(self._weights[keys % fields], firsts) if len(firsts) else np.zeros(0)
        return Postings(
            ids=ids,
            terms=dict(self._terms),
            starts=np.searchsorted(cells, np.arange(len(self._terms) + 2) * n),
            documents=(cells % max(n, 1)).astype(np.uint32),
            frequencies=frequencies.astype(np.float32),
            lengths=sizes.reshape(n, fields) @ self._weights,
        )

    def _forget_unused_terms(self) -> None:
        """Number the terms anew, so that words of removed texts do not pile up."""
        names = list(self._terms)
        texts, self._terms = self._texts, _new_terms()
        for id_, fields in texts.items():
            texts[id_] = tuple(array("i", [self._terms[names[term]] for term in field]) for field in fields)
        self._has_lost_texts = False


def _new_terms() -> defaultdict[str, int]:
    """Numbers given in order of first use."""
    terms: defaultdict[str, int] = defaultdict()
    terms.default_factory = terms.__len__
    return terms
