"""How much each word of a claim should count, in a ranked or in a dense search."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import models
from domain.query import EndpointKind
from models.retrieval.statistics import TermStatistics
from models.rewriting.learned.claim_words import ClaimWord, Rarity, word_features
from models.rewriting.learned.reader import ClaimReader
from models.rewriting.learned.weights import load_policy, word_head

TEXTS = ("posts", "passages")  # what is searched: people's posts, or an encyclopaedia's sentences
PARTS = 20  # of a weight of 1: weights are multiples of one, so that an endpoint without weights can be sent repeats
STRENGTH = 0.6  # of what was learned, as an exponent, chosen on claims that were not learned from
_LOWEST, _HIGHEST = -3.0, 2.0  # logarithms of weights


def folder_of(kind: EndpointKind, texts: str) -> Path:
    """Where the packaged weights for searching such texts lie."""
    return Path(models.__file__).parent / "weights" / f"{kind}_rewriter_{texts}"


def to_weights(logs: Tensor) -> Tensor:
    """0 is a weight of 1: the word counts as it is."""
    return torch.exp(logs.clamp(_LOWEST, _HIGHEST))


def settled(logs: NDArray[np.float32]) -> NDArray[np.float64]:
    """The weights that a ranked query gets: not as far from 1 as was learned, which holds better on other claims, in
    the nearest twentieths, for quarters lose a fifth of the gain. None is 0."""
    weights = to_weights(STRENGTH * torch.from_numpy(logs)).numpy().astype(np.float64)
    rounded: NDArray[np.float64] = np.rint(weights * PARTS) / PARTS
    return rounded


class TermWeights:
    """May be shared by threads."""

    def __init__(self, reader: ClaimReader, words: nn.Module, version: str) -> None:
        self.version = version
        self._reader, self._words = reader, words

    @classmethod
    def load(cls, kind: EndpointKind, texts: str = "posts", folder: Path | None = None) -> "TermWeights":
        """None: the packaged ones. Raises BadArtifact for weights that are missing, damaged or do not fit."""
        words, advice = word_head(1), f"run `claimwatch retrain rewriter --endpoint {kind} --texts {texts}`"
        reader, version = load_policy(folder or folder_of(kind, texts), {"words": words}, advice=advice)
        return cls(reader, words, version)

    def weigh(self, text: str, words: Sequence[ClaimWord], statistics: TermStatistics) -> NDArray[np.float32]:
        """Logarithms of the weights, (words,)."""
        states, _ = self._reader.read(text, words)
        known = torch.from_numpy(word_features(words, Rarity.of(words, statistics)))
        with torch.inference_mode():
            logs: NDArray[np.float32] = self._words(torch.cat([states, known], -1))[:, 0].numpy()
        return logs
