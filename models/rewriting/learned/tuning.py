"""Tunes the upper layers of the packaged encoder together with heads over a claim's words.

The lower layers stay as they are, so that what they make of a claim is worked out once; of the upper ones only
low-rank changes are learned. Two cores train a policy in minutes so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from models import low_rank
from models.backbone import encodable, packaged_folder, packaged_tokenizer, trainable
from models.rewriting.learned.claim_words import ClaimWord
from models.rewriting.learned.reader import membership
from models.training import Descent, shuffled_batches

UPPER, RANK = 3, 16
_TUNED = ("query", "key", "value", "attention.output.dense", "intermediate.dense", "output.dense")
_BATCH = 64  # texts
_BLOCKED = -1e9  # added to the attention on padding


@dataclass(frozen=True, slots=True)
class Read:
    """A claim as the upper layers get it: (tokens, dim), which tokens make up each word (words, tokens), and what is
    known of the words (words, FEATURES)."""

    states: Tensor
    membership: Tensor
    features: Tensor


class UpperLayers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        network = trainable(packaged_folder()).train(False)
        layers = network.encoder.layer
        self._first = len(layers) - UPPER
        self.layers = layers[self._first :]
        low_rank.adapt(self.layers, RANK, _TUNED)
        network.encoder.layer = layers[: self._first]
        self._lower = [network]  # in a list: no part of what is trained
        self._tokenizer = packaged_tokenizer()

    def read(
        self, texts: Sequence[str], words: Sequence[Sequence[ClaimWord]], features: Sequence[np.ndarray]
    ) -> list[Read]:
        """What the lower layers make of the texts."""
        encodings = [self._tokenizer.encode(encodable(text)) for text in texts]
        states: list[Tensor] = [torch.empty(0)] * len(texts)
        order = sorted(range(len(texts)), key=lambda at: len(encodings[at].ids))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            ids = pad_sequence([torch.tensor(encodings[at].ids) for at in batch], batch_first=True)
            mask = pad_sequence([torch.ones(len(encodings[at].ids)) for at in batch], batch_first=True)
            with torch.inference_mode():
                found = self._lower[0](input_ids=ids, attention_mask=mask).last_hidden_state
            for at, row in zip(batch, found, strict=True):
                states[at] = row[: len(encodings[at].ids)].clone()
        return [
            Read(state, membership(encoding, chosen), torch.from_numpy(known))
            for state, encoding, chosen, known in zip(states, encodings, words, features, strict=True)
        ]

    def forward(self, batch: Sequence[Read]) -> tuple[Tensor, Tensor]:
        """(claims, words, dim + FEATURES), padded, and (claims, dim)."""
        states = pad_sequence([read.states for read in batch], batch_first=True)
        mask = pad_sequence([torch.ones(len(read.states)) for read in batch], batch_first=True)
        features = pad_sequence([read.features for read in batch], batch_first=True)
        shares = torch.zeros(len(batch), features.shape[1], states.shape[1])
        for row, read in zip(shares, batch, strict=True):
            row[: read.membership.shape[0], : read.membership.shape[1]] = read.membership
        blocked = (1 - mask)[:, None, None, :] * _BLOCKED
        for layer in self.layers:
            out = layer(states, blocked)
            states = out[0] if isinstance(out, tuple) else out
        means = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return torch.cat([shares @ states, features], -1), means

    def changes(self) -> dict[str, Tensor]:
        """The low-rank changes, under the names of the encoder's weights."""
        return low_rank.changes_of_layers(self.layers, "encoder.layer", self._first)


@dataclass(frozen=True, slots=True)
class Pace:
    """`batch` is in claims; the rates are the highest of one cycle."""

    epochs: int
    batch: int
    heads_rate: float
    layers_rate: float
    seed: int


def tune(
    network: nn.Module, layers: UpperLayers, count: int, pace: Pace, loss_of: Callable[[list[int]], Tensor],
    is_best: Callable[[int], bool],
) -> None:  # fmt: skip
    """Learn the changes of the layers and all other weights of the network, from batches of numbers below `count`.
    `is_best` judges each epoch, by its number from 1; the network is left as after the last that was the best."""
    adapted = [weight for weight in layers.parameters() if weight.requires_grad]
    of_layers = set(map(id, layers.parameters()))
    heads = [weight for weight in network.parameters() if id(weight) not in of_layers]
    descent = Descent([(heads, pace.heads_rate), (adapted, pace.layers_rate)], pace.epochs * ceil(count / pace.batch))
    rng, best = np.random.default_rng(pace.seed), network.state_dict()
    for epoch in range(1, pace.epochs + 1):
        network.train(True)
        for batch in shuffled_batches(count, pace.batch, rng):
            descent.step(loss_of(batch))
        if is_best(epoch):
            best = {name: weight.clone() for name, weight in network.state_dict().items()}
    network.load_state_dict(best)
