"""Lists for ranked search: what BM25 ranks high for a claim as it is, by rarity, and with a word less or twice.

A text's score is linear in the weights of the claim's words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.evaluation.collections import ClaimCollection
from models.evaluation.rewriting.endpoints import K1, B
from models.retrieval.analyser import Analyser
from models.rewriting.learned.claim_words import ClaimWord
from models.rewriting.learned.listwise import Example, Lists
from models.rewriting.learned.term_weights import settled, to_weights
from models.rewriting.learned.tuning import Read
from models.rewriting.rewards.impacts import UNITS, index_texts

_MOST, _BY_RARITY, _BY_WORD = 150, 100, 15  # texts of a list


@dataclass(frozen=True, slots=True)
class RankedExample(Example):
    """`impacts`: (terms, texts), BM25's; `terms`: (terms, words), how often each word brings each term into the
    query."""

    PULL = 0.02

    terms: Tensor
    impacts: Tensor

    def scores(self, logs: Tensor) -> Tensor:
        return self._scores(to_weights(logs))

    def scores_of_query(self, logs: Tensor) -> Tensor:
        return self._scores(torch.from_numpy(settled(logs.numpy())).float())

    def _scores(self, weights: Tensor) -> Tensor:
        return (self.terms @ weights) @ self.impacts.float()


class RankedLists(Lists):
    def __init__(self, collection: ClaimCollection, analyser: Analyser, *, weight: float = 1.0) -> None:
        self._collection, self._analyser, self._weight = collection, analyser, weight
        self._index = index_texts(collection.posts, analyser, k1=K1, b=B)

    def example(self, claim: str, words: Sequence[ClaimWord], read: Read) -> RankedExample:
        gold = self._collection.qrels[claim]
        tokens = [self._analyser(word.text) for word in words]
        terms, impacts, right = self._list(tokens, self._index.numbers(gold))
        return RankedExample(read, right, len(gold), self._weight, terms, impacts)

    def _list(self, tokens: Sequence[Sequence[str]], gold: NDArray[np.int32]) -> tuple[Tensor, Tensor, Tensor]:
        """Terms, impacts and gold of an example; impacts in half precision, for there are thousands of lists."""
        index, postings = self._index, self._index.postings
        numbered = [[postings.terms[token] for token in part if token in postings.terms] for part in tokens]
        known = sorted({term for part in numbered for term in part})
        rows = {term: row for row, term in enumerate(known)}
        terms = torch.zeros(len(known), len(tokens))
        for word, part in enumerate(numbered):
            for term in part:
                terms[rows[term], word] += 1
        worth = np.zeros((len(known), index.size), dtype=np.float32)
        for row, term in enumerate(known):
            held = slice(postings.starts[term], postings.starts[term + 1])
            worth[row, postings.documents[held]] = index.impacts[held] / UNITS
        counts = terms.numpy().sum(1)
        whole = counts @ worth
        rarity = np.log(index.size / np.maximum((worth > 0).sum(1), 1))
        competing = {*_top(whole, _MOST), *_top((counts * rarity) @ worth, _BY_RARITY)}
        for row, count in enumerate(counts):
            competing.update(_top(whole - count * worth[row], _BY_WORD), _top(whole + count * worth[row], _BY_WORD))
        texts = np.array(sorted(competing | set(gold.tolist())))
        return terms, torch.from_numpy(worth[:, texts].astype(np.float16)), torch.from_numpy(np.isin(texts, gold))


def _top(scores: NDArray[np.float32], most: int) -> list[int]:
    kept = min(most, len(scores))
    chosen: list[int] = np.argpartition(-scores, kept - 1)[:kept].tolist()
    return chosen
