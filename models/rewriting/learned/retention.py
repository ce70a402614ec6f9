"""Which of a claim's words a post about it holds: a mixture of ways to put the claim, read off the claim itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

import models
from models.retrieval.statistics import TermStatistics
from models.rewriting.learned.claim_words import Rarity, located, word_features
from models.rewriting.learned.patterns import MOST_WORDS, pattern_odds, space
from models.rewriting.learned.reader import ClaimReader
from models.rewriting.learned.volume import Told, Volume, query_features
from models.rewriting.learned.weights import DIM, load_policy, word_head

FOLDER = Path(models.__file__).parent / "weights" / "boolean_rewriter"
WAYS = 4
_ADVICE = "run `claimwatch retrain rewriter --endpoint boolean`"


@dataclass(frozen=True, slots=True)
class Foresight:
    """What is expected of a claim's posts. `words`: the places, among those asked about, of the rarest ones, which
    queries are made of; `retained`: (words, ways) logits; `shares`: (ways,); `background`: other posts that each query
    of the space matches, in a sample of 25,000."""

    words: tuple[int, ...]
    retained: NDArray[np.float64]
    shares: NDArray[np.float64]
    background: NDArray[np.float64]
    features: NDArray[np.float32]  # (queries, …), for `Retention.told`

    def odds(self) -> NDArray[np.float64]:
        """How likely a post holds exactly each pattern of the words."""
        return pattern_odds(self.retained, self.shares, space(len(self.words)).patterns)

    def after(self, query: int, chance: float, *, found: bool) -> "Foresight":
        """Once a query of the space was asked, by which a post that it finds was read with that chance: the ways to put
        the claim that speak for what came of it count for more."""
        places = space(len(self.words)).queries[query]
        finds = chance * np.prod(1 / (1 + np.exp(-self.retained[list(places)])), axis=0)  # (ways,)
        shares = self.shares * (finds if found else 1 - finds) + 1e-12
        return replace(self, shares=shares / shares.sum())


class Retention:
    """May be shared by threads."""

    def __init__(
        self, reader: ClaimReader, words: nn.Module, ways: nn.Module, volume: Volume, told: Told, version: str
    ) -> None:
        self.version = version
        self._reader, self._words, self._ways, self._volume, self._told = reader, words, ways, volume, told

    @classmethod
    def load(cls, folder: Path | None = None) -> "Retention":
        """None: the packaged one. Raises BadArtifact for weights that are missing, damaged or do not fit."""
        words, ways, volume, told = word_head(WAYS), nn.Linear(DIM, WAYS), Volume(), Told()
        parts = {"words": words, "ways": ways, "volume": volume, "told": told}
        reader, version = load_policy(folder or FOLDER, parts, advice=_ADVICE)
        return cls(reader, words, ways, volume, told, version)

    def foresee(self, text: str, words: Sequence[str], statistics: TermStatistics) -> Foresight:
        """Of the rarest of the words, at most 10. There must be one."""
        found = located(words, text)
        rarity = Rarity.of(found, statistics)
        places = rarity.rarest(MOST_WORDS)
        states, whole = self._reader.read(text, found)
        known = torch.from_numpy(word_features(found, rarity))
        with torch.inference_mode():
            retained = self._words(torch.cat([states, known], -1)).numpy().astype(np.float64)
            shares = torch.softmax(self._ways(whole), -1).numpy().astype(np.float64)
        members = space(len(places)).members
        features = query_features([found[place] for place in places], rarity.of_those(places), members)
        background = self._volume.posts(features)
        return Foresight(tuple(places.tolist()), retained[places], shares / shares.sum(), background, features)

    def told(self, foresight: Foresight, query: int, posts: int) -> float:
        """By what factor it raises the odds that the query finds a post that is sought, or lowers them, that it matches
        so many posts of the platform."""
        return self._told.odds(foresight.features[query], posts)
