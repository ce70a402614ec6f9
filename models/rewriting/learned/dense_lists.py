"""Lists for dense search: what is nearest to a claim by the packaged encoder.

The encoder takes the mean over a claim's tokens. While learning, each token counts by its word's weight; what is gained
is measured on the text that says some words again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from models.backbone import Encoder, encodable, packaged_bert
from models.bert import Bert
from models.evaluation.collections import ClaimCollection
from models.evaluation.vectors import cached_vectors
from models.rewriting.learned.claim_words import ClaimWord
from models.rewriting.learned.dense import said_again
from models.rewriting.learned.listwise import Example, Lists
from models.rewriting.learned.term_weights import to_weights
from models.rewriting.learned.tuning import Read

_MOST = 200  # texts of a list
_TEMPERATURE = 0.05  # of cosines, as the encoder was trained with


@dataclass(frozen=True, slots=True)
class DenseExample(Example):
    """`tokens`: (tokens, dim), as the encoder leaves them; `listed`: (texts,), which of the collection's texts."""

    PULL = 0.1  # chosen, as what matters enough to be said again, on claims of other pages

    claim: str
    words: Sequence[ClaimWord]
    tokens: Tensor
    listed: Tensor
    collection: "DenseLists"

    def scores(self, logs: Tensor) -> Tensor:
        inside = (self.read.membership > 0).float()  # (words, tokens)
        weights = torch.where(inside.any(0), to_weights(logs) @ inside / inside.sum(0).clamp(min=1), torch.ones(()))
        return self.collection.cosines(weights @ self.tokens, self.listed) / _TEMPERATURE

    def scores_of_query(self, logs: Tensor) -> Tensor:
        text, _ = said_again(self.claim, self.words, logs.numpy())
        return self.collection.cosines(self.collection.embed(text), self.listed)


class DenseLists(Lists):
    def __init__(self, collection: ClaimCollection, *, weight: float = 1.0, cache: Path | None = None) -> None:
        """`cache`: folder for embeddings between runs."""
        self._collection, self._weight = collection, weight
        self._encoder = Encoder.load()
        config, weights, self._tokenizer = packaged_bert()
        self._bert = Bert(config, weights)
        self._numbers = {id_: number for number, id_ in enumerate(collection.posts)}
        self._vectors = torch.from_numpy(cached_vectors(list(collection.posts.values()), self._encoder, cache))

    def example(self, claim: str, words: Sequence[ClaimWord], read: Read) -> DenseExample:
        text, gold = self._collection.claims[claim], self._collection.qrels[claim]
        (states,) = self._bert.token_states([self._tokenizer.encode(encodable(text)).ids])
        tokens = states.clone()  # made without what training needs
        cosines = self._vectors @ F.normalize(tokens.mean(0), dim=0)
        nearest = torch.topk(cosines, min(_MOST, len(cosines))).indices.tolist()
        right = {self._numbers[post] for post in gold if post in self._numbers}
        listed = sorted({*nearest, *right})
        marked = torch.tensor([number in right for number in listed])
        return DenseExample(
            read, marked, len(gold), self._weight, text, words, tokens, torch.tensor(listed), self
        )  # fmt: skip

    def embed(self, text: str) -> Tensor:
        """(dim,)"""
        return torch.from_numpy(self._encoder.encode([text])[0])

    def cosines(self, query: Tensor, listed: Tensor) -> Tensor:
        """(texts,), of a query of any length to some of the collection's texts."""
        return self._vectors[listed] @ F.normalize(query, dim=0)
