"""What a claim's list of texts teaches: the right ones are to stand above those that compete with them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from models.rewriting.learned.claim_words import ClaimWord
from models.rewriting.learned.tuning import Read
from models.rewriting.rewards.protocol import CUT


@dataclass(frozen=True, slots=True)
class Example(ABC):
    """`gold`: which texts of the list are right, (texts,); `relevant`: right texts there are; `weight`: how much it
    counts beside others; `PULL`: how much weights are pulled towards 1."""

    PULL: ClassVar[float]

    read: Read
    gold: Tensor
    relevant: int
    weight: float

    @abstractmethod
    def scores(self, logs: Tensor) -> Tensor:
        """(texts,), from the logarithms of the words' weights, (words,)."""

    @abstractmethod
    def scores_of_query(self, logs: Tensor) -> Tensor:
        """(texts,), of the query that such weights make; zeros make the claim as it is."""

    def gain(self, logs: Tensor) -> float:
        """Average precision within the list, of the query that such weights make, over that of the claim as it is."""
        learned, as_it_is = (self.scores_of_query(weights) for weights in (logs, torch.zeros_like(logs)))
        return self._average_precision(learned) - self._average_precision(as_it_is)

    def loss(self, logs: Tensor) -> Tensor:
        """`logs` of the words may be padded."""
        own = logs[: len(self.read.features)]
        scores, pull = self.scores(own), self.PULL * own.square().mean()
        gold, wrong = scores[self.gold], scores[~self.gold]
        if not len(gold) or not len(wrong):
            return pull
        return self.weight * F.softplus(torch.logsumexp(wrong, 0) - gold).mean() + pull

    def _average_precision(self, scores: Tensor) -> float:
        order = torch.argsort(scores, descending=True, stable=True)[:CUT]
        hits = self.gold[order].double()
        precisions = torch.cumsum(hits, 0) / torch.arange(1, len(hits) + 1)
        return float((precisions * hits).sum() / self.relevant)


class Lists(ABC):
    """Those of a collection's claims."""

    @abstractmethod
    def example(self, claim: str, words: Sequence[ClaimWord], read: Read) -> Example:
        """Of a claim's id."""
