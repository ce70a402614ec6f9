"""How many posts a query matches, and what it tells when a platform says how many."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.rewriting.learned.claim_words import ClaimWord, Rarity

FEATURES = 11
_WIDTH = 32
_LEAST = 1e-3  # posts of a sample: below, one number is as good as another
_CAUTION = 2.0  # by which more are expected, chosen on dev: too many posts cost more than too few save
_SPREAD = 0.6  # of the logarithm of what is expected, as of a logistic distribution
_MOST_TOLD = 6.0  # by a count, in logarithms of odds


def _network(inputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, _WIDTH), nn.GELU(), nn.Linear(_WIDTH, _WIDTH), nn.GELU(), nn.Linear(_WIDTH, 1)
    )


class Volume(nn.Module):
    """(queries, FEATURES) → (queries,): the logarithm of how many posts of a sample of 25,000 match."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = _network(FEATURES)

    def forward(self, features: Tensor) -> Tensor:
        logs: Tensor = self.layers(features)[:, 0]
        return logs

    def posts(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Posts of the sample that are to be expected, (queries,)."""
        with torch.inference_mode():
            logs = self(torch.from_numpy(features)).numpy().astype(np.float64)
        found: NDArray[np.float64] = np.maximum(_CAUTION * np.exp(logs) - _LEAST, 0.0)
        return found


def chance_of_fewer(expected: NDArray[np.float64], posts: float) -> NDArray[np.float64]:
    """That a query matches no more posts of the sample than `posts`, where so many are expected, (queries,)."""
    apart = np.log(posts + _LEAST) - np.log(expected + _LEAST)
    chance: NDArray[np.float64] = 1 / (1 + np.exp(-apart / _SPREAD))
    return chance


def to_target(posts: Tensor) -> Tensor:
    """The logarithm that `Volume` is to give."""
    return torch.log(posts + _LEAST)


class Told(nn.Module):
    """Logits that a query finds a post that is sought, (queries,) each: once the number of posts that it matches on the
    platform is known, and before. Their difference is what the number tells."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = _network(FEATURES), _network(FEATURES + 1)

    def forward(self, features: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        known = torch.cat([features, torch.log1p(counts)[:, None] / 3 - 1], -1)
        return self.before(features)[:, 0], self.after(known)[:, 0]

    def odds(self, features: NDArray[np.float32], count: int) -> float:
        """By what factor a count raises the odds of one query, (FEATURES,), or lowers them; 0 if nothing matches."""
        if not count:
            return 0.0
        with torch.inference_mode():
            before, after = self(torch.from_numpy(features)[None], torch.tensor([float(count)]))
        return float(np.exp(np.clip(float(after) - float(before), -_MOST_TOLD, _MOST_TOLD)))


def query_features(words: Sequence[ClaimWord], rarity: Rarity, members: NDArray[np.bool_]) -> NDArray[np.float32]:
    """(queries, FEATURES) of queries given by their `members` among the words, (queries, words)."""
    size = members.sum(1)
    at_large, in_posts = (members @ (part - 8) for part in (rarity.at_large, rarity.in_posts))  # logs of shares: a sum
    least, most = _extremes(rarity.at_large, members)
    least_posted, most_posted = _extremes(rarity.in_posts, members)
    places = np.arange(len(words))
    span = np.where(members, places, -1).max(1) - np.where(members, places, len(words)).min(1)
    capital = members @ np.array([word.text[0].isupper() for word in words], dtype=np.float64)
    digits = members @ np.array([any(map(str.isdigit, word.text)) for word in words], dtype=np.float64)
    columns = (
        size - 2.5, at_large / 5 + 2, in_posts / 5 + 1.5, (least - 3.5) / 1.5, (most - 5) / 1.5,
        (least_posted - 4.5) / 1.5, (most_posted - 6) / 1.5, at_large / size / 1.5 + 2.5, span / 5 - 1, capital - 1,
        digits,
    )  # fmt: skip
    return np.stack(columns, axis=1).astype(np.float32)


def _extremes(
    rarity: NDArray[np.float64], members: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.where(members, rarity, np.inf).min(1), np.where(members, rarity, -np.inf).max(1)
