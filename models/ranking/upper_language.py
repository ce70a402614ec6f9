"""The upper layers of the packaged language model, tuned by low-rank changes.

The lower ones stay as they are, so that what they make of a text is worked out once, however many losses are compared:
on two cores that is the difference between an hour and a day.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from models import low_rank
from models.backbone import token_batches
from models.language_model import LanguageModel, token_logs

UPPER, RANK = 8, 16
_TUNED = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
_KEPT = torch.float16  # of what the lower layers say: a third of the digits, half of the memory


@dataclass(frozen=True, slots=True)
class Row:
    """Two segments, the second one after the first."""

    first: list[int]
    second: list[int]

    @property
    def ids(self) -> list[int]:
        return self.first + self.second


@dataclass(frozen=True, slots=True)
class Read:
    """A row as the upper layers get it: (tokens, dim)."""

    row: Row
    states: Tensor


@dataclass(frozen=True, slots=True)
class Logs:
    """Log-probabilities of a row's tokens: (tokens - 1,) of each segment, whose first one is given."""

    first: Tensor
    second: Tensor


class UpperLanguage(nn.Module):
    """`seed`: of the changes, which at first change nothing."""

    def __init__(self, model: LanguageModel, *, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        network = model.network
        layers = network.model.layers
        self._first = len(layers) - UPPER
        self.layers = layers[self._first :]
        network.requires_grad_(False)
        self.trained = low_rank.adapt(self.layers, RANK, _TUNED)
        self._network = [network]  # in a list: no part of what is trained

    def read(self, rows: Sequence[Row]) -> list[Read]:
        """What the lower layers make of the rows."""
        network = self._network[0].model
        states: list[Tensor] = [torch.empty(0)] * len(rows)
        for batch in _batches(rows):
            ids = pad_sequence([torch.tensor(rows[at].ids) for at in batch], batch_first=True)
            with torch.inference_mode():
                found = self._run(network.layers[: self._first], network.embed_tokens(ids))
            for at, row in zip(batch, found, strict=True):
                states[at] = row[: len(rows[at].ids)].to(_KEPT).clone()
        return [Read(row, of_row) for row, of_row in zip(rows, states, strict=True)]

    def forward(self, reads: Sequence[Read]) -> list[Logs]:
        states = pad_sequence([read.states.float() for read in reads], batch_first=True)
        states = self._run(self.layers, states)
        states = self._network[0].model.norm(states)
        head = self._network[0].get_output_embeddings()
        logs = []
        for read, of_row in zip(reads, states, strict=True):
            middle, end = len(read.row.first), len(read.row.ids)
            kept = torch.cat([of_row[: middle - 1], of_row[middle : end - 1]])
            found = token_logs(head, kept, [*read.row.first[1:], *read.row.second[1:]])
            logs.append(Logs(found[: middle - 1], found[middle - 1 :]))
        return logs

    def score(self, reads: Sequence[Read]) -> list[Logs]:
        """As `forward`, without what training needs, rows of like length together."""
        logs: list[Logs | None] = [None] * len(reads)
        for batch in _batches([read.row for read in reads]):
            with torch.inference_mode():
                for at, found in zip(batch, self([reads[at] for at in batch]), strict=True):
                    logs[at] = found
        return [found for found in logs if found is not None]

    def changes(self) -> dict[str, Tensor]:
        """The low-rank changes, under the names of the model's weights."""
        return low_rank.changes_of_layers(self.layers, "model.layers", self._first)

    def _run(self, layers: nn.ModuleList, states: Tensor) -> Tensor:
        length = states.shape[1]
        turned = self._network[0].model.rotary_emb(states, position_ids=torch.arange(length)[None])
        # What stands behind is not seen, so neither is padding.
        causal = torch.full((length, length), -torch.inf).triu(1)[None, None]
        for layer in layers:
            states = layer(states, attention_mask=causal, position_embeddings=turned)
        return states


def _batches(rows: Sequence[Row]) -> Iterator[list[int]]:
    """Rows of like length together."""
    tokens = [row.ids for row in rows]
    return token_batches(sorted(range(len(rows)), key=lambda at: len(tokens[at])), tokens)
