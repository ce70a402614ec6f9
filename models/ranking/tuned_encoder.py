"""The packaged encoder as a network to be tuned: low-rank changes to all its layers, mean pooling, unit length."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from models import low_rank
from models.backbone import encodable, packaged_folder, packaged_tokenizer, trainable

RANK = 16
TUNED = ("query", "key", "value", "attention.output.dense", "intermediate.dense", "output.dense")
_LONGEST = 80  # tokens of a text that is learned from


class TunedEncoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.network = trainable(packaged_folder()).train(False)
        self._tokenizer = packaged_tokenizer()
        self._tokenizer.enable_truncation(_LONGEST)
        self.trained = low_rank.adapt(self.network, RANK, TUNED)

    def forward(self, texts: Sequence[str]) -> Tensor:
        """(texts, dim), of unit length."""
        rows = [torch.tensor(encoding.ids) for encoding in self._tokenizer.encode_batch(list(map(encodable, texts)))]
        ids = pad_sequence(rows, batch_first=True)  # (B, T)
        mask = pad_sequence([torch.ones(len(row)) for row in rows], batch_first=True)
        states = self.network(input_ids=ids, attention_mask=mask).last_hidden_state
        means = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return nn.functional.normalize(means, dim=1)

    def changes(self) -> dict[str, Tensor]:
        """The low-rank changes, under the names of the encoder's weights."""
        return low_rank.changes(self.network)
