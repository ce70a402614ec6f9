"""Texts on their way to a query as vectors: a sentence's mean over its tokens, or one vector a word with its features.

Frozen encoders remember what they have encoded, in half precision; tuned ones learn low-rank changes (models/low_rank)
together with the policy, as the paper tunes all weights (section 3.2).
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from models import low_rank
from models.backbone import packaged_folder, trainable
from models.rewriting.decision_transformer.environments import Seen

RANK = 16  # of the low-rank changes
_TUNED_LAYERS = ("query", "value", "dense")
_MAX_TOKENS = 128
_BATCH = 64  # texts encoded at once without gradients

_Vectors = tuple[NDArray[np.float16], NDArray[np.float16]]  # of the sentence, of its words


class TextEncoder(nn.Module):
    """A transformer of Hugging Face's kind from a local folder (None: the packaged one)."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__()
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        chosen = folder or packaged_folder()
        self.network = trainable(chosen)
        self.network.requires_grad_(False)
        self.network.train(False)  # no dropout: what is remembered is what was trained with
        self._tokenizer = _tokenizer(chosen)
        self.dim = int(self.network.config.hidden_size)

    def adapt(self) -> list[nn.Parameter]:
        """Make it learn low-rank changes; these."""
        return low_rank.adapt(self.network, RANK, _TUNED_LAYERS)

    def forward(self, seen: Sequence[Seen]) -> tuple[Tensor, list[Tensor]]:
        """Of unit length (texts, dim); and of each text's words (positions, dim)."""
        encodings = self._tokenizer.encode_batch([each.text for each in seen])
        mask = torch.tensor([encoding.attention_mask for encoding in encodings])  # (B, T)
        ids = torch.tensor([encoding.ids for encoding in encodings])
        states = self.network(input_ids=ids, attention_mask=mask).last_hidden_state  # (B, T, dim)
        means = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        words = zip(states, encodings, seen, strict=True)
        return nn.functional.normalize(means, dim=-1), [_of_words(s, e.offsets, each) for s, e, each in words]


def _of_words(states: Tensor, offsets: Sequence[tuple[int, int]], seen: Seen) -> Tensor:
    """(positions, dim): the mean of each word's tokens, from (T, dim)."""
    owner = {place: word for word, (start, end) in enumerate(seen.spans) for place in range(start, end)}
    pairs = [(owner[start], at) for at, (start, end) in enumerate(offsets) if end > start and start in owner]
    words, tokens = torch.tensor(pairs, dtype=torch.long).view(-1, 2).unbind(1)
    sums = states.new_zeros(len(seen.spans), states.shape[1]).index_add(0, words, states[tokens])
    counts = torch.bincount(words, minlength=len(seen.spans)).clamp(min=1)
    return sums / counts[:, None]


class StateEncoder:
    """The encoder as training and rollouts use it. What is remembered is so until `forget`; where gradients are wanted
    and the text encoder learns, nothing is."""

    def __init__(self, text: TextEncoder) -> None:
        self.text = text
        self._remembered: dict[tuple[str, tuple[tuple[int, int], ...]], _Vectors] = {}

    def sentences(self, seen: Sequence[Seen]) -> Tensor:
        """(states, dim)."""
        if self._learns:
            means: Tensor = self.text(seen)[0]
            return means
        return torch.from_numpy(np.stack([mean for mean, _ in self._vectors(seen)])).float()

    def words(self, seen: Sequence[Seen]) -> Tensor:
        """(states, most positions, dim + FEATURES), with rows of zeros past a text's last word."""
        if self._learns:
            vectors = self.text(seen)[1]
        else:
            vectors = [torch.from_numpy(words).float() for _, words in self._vectors(seen)]
        features = [torch.from_numpy(each.features) for each in seen]
        return pad_sequence([torch.cat(pair, 1) for pair in zip(vectors, features, strict=True)], batch_first=True)

    def forget(self) -> None:
        """The weights have changed."""
        self._remembered.clear()

    @property
    def _learns(self) -> bool:
        return torch.is_grad_enabled() and any(p.requires_grad for p in self.text.parameters())

    def _vectors(self, seen: Sequence[Seen]) -> list[_Vectors]:
        new = {(each.text, each.spans): each for each in seen if (each.text, each.spans) not in self._remembered}
        order = sorted(new.values(), key=lambda each: len(each.text))
        for start in range(0, len(order), _BATCH):
            self._remember(order[start : start + _BATCH])
        return [self._remembered[each.text, each.spans] for each in seen]

    @torch.no_grad()
    def _remember(self, seen: Sequence[Seen]) -> None:
        means, words = self.text(seen)
        for each, mean, of_words in zip(seen, means.numpy(), words, strict=True):
            vectors = mean.astype(np.float16), of_words.numpy().astype(np.float16)
            self._remembered[each.text, each.spans] = vectors


def _tokenizer(folder: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(_MAX_TOKENS)
    tokenizer.enable_padding()
    return tokenizer
