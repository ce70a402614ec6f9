"""BERT (Devlin et al. 2019) for inference on a CPU: token ids in, the mean of each text's last hidden states out.

The tokens of a batch are laid end to end, so that every linear layer is one product over all of them and nothing is
computed for padding; attention runs once for each run of texts of equal length. Its peer is transformers' BertModel,
which takes longer to import than this takes to embed a thousand claims.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby

import torch
from torch import Tensor
from torch.nn import functional as F


@dataclass(frozen=True, slots=True)
class BertConfig:
    """The part of config.json that shapes the network, under its names there."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12

    @classmethod
    def of(cls, config: Mapping[str, object]) -> "BertConfig":
        """Raises TypeError if a size is missing."""
        return cls(**{field.name: config[field.name] for field in fields(cls) if field.name in config})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Affine:
    """Weight and bias of a linear layer or of a layer norm."""

    weight: Tensor
    bias: Tensor

    def linear(self, states: Tensor) -> Tensor:
        return F.linear(states, self.weight, self.bias)

    def norm(self, states: Tensor, epsilon: float) -> Tensor:
        return F.layer_norm(states, self.weight.shape, self.weight, self.bias, epsilon)


@dataclass(frozen=True, slots=True)
class _Layer:
    query_key_value: _Affine
    attended: _Affine
    attended_norm: _Affine
    widened: _Affine
    narrowed: _Affine
    narrowed_norm: _Affine


class Bert:
    """May be shared by threads."""

    def __init__(self, config: BertConfig, weights: Mapping[str, Tensor]) -> None:
        """Weights under their names in a checkpoint. Raises ValueError for one that is missing or of another shape."""
        self.config = config
        take = _Checkpoint(weights)
        dim = config.hidden_size
        self._words = take.tensor("embeddings.word_embeddings.weight", config.vocab_size, dim)
        positions = take.tensor("embeddings.position_embeddings.weight", config.max_position_embeddings, dim)
        # A single text is all of the first of the two segment types.
        self._positions = (
            positions + take.tensor("embeddings.token_type_embeddings.weight", config.type_vocab_size, dim)[0]
        )
        self._norm = take.affine("embeddings.LayerNorm", dim)
        self._layers = [_layer(take, f"encoder.layer.{i}", config) for i in range(config.num_hidden_layers)]

    def mean_states(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """(texts, dim) from the token ids of each text, at least one; fastest where equal lengths stand together."""
        with torch.inference_mode():
            lengths = [len(ids) for ids in texts]
            ids = torch.tensor([token for ids in texts for token in ids])
            places = torch.cat([torch.arange(length) for length in lengths])
            runs = [(len(list(run)), length) for length, run in groupby(lengths)]
            epsilon = self.config.layer_norm_eps
            states = self._norm.norm(self._words[ids] + self._positions[places], epsilon)  # (tokens, dim)
            for layer in self._layers:
                mixed = layer.attended.linear(self._attention(layer.query_key_value.linear(states), runs))
                states = layer.attended_norm.norm(mixed + states, epsilon)
                wide = F.gelu(layer.widened.linear(states))  # (tokens, intermediate_size)
                states = layer.narrowed_norm.norm(layer.narrowed.linear(wide) + states, epsilon)
            blocks = torch.split(states, [count * length for count, length in runs])
            means = [b.view(count, length, -1).mean(1) for b, (count, length) in zip(blocks, runs, strict=True)]
            return torch.cat(means)

    def _attention(self, query_key_value: Tensor, runs: list[tuple[int, int]]) -> Tensor:
        """(tokens, dim) from (tokens, 3 · dim); `runs` are (texts, tokens of each), in the order of the tokens."""
        heads, size = self.config.num_attention_heads, self.config.hidden_size // self.config.num_attention_heads
        attended = []
        blocks = torch.split(query_key_value, [count * length for count, length in runs])
        for block, (count, length) in zip(blocks, runs, strict=True):
            split = block.view(count, length, 3, heads, size).permute(2, 0, 3, 1, 4)  # (3, texts, heads, T, size)
            mixed = F.scaled_dot_product_attention(split[0], split[1], split[2])  # (texts, heads, T, size)
            attended.append(mixed.transpose(1, 2).reshape(count * length, heads * size))
        return torch.cat(attended)


@dataclass(frozen=True, slots=True)
class _Checkpoint:
    weights: Mapping[str, Tensor]

    def tensor(self, name: str, *shape: int) -> Tensor:
        found = self.weights.get(name)
        if found is None:
            raise ValueError(f"lacks the tensor {name}")
        if found.shape != shape:
            raise ValueError(f"{name} has shape {tuple(found.shape)}, expected {shape}")
        return found.float()

    def affine(self, name: str, *shape: int) -> _Affine:
        return _Affine(self.tensor(f"{name}.weight", *shape), self.tensor(f"{name}.bias", shape[0]))


def _layer(take: _Checkpoint, name: str, config: BertConfig) -> _Layer:
    dim, wide = config.hidden_size, config.intermediate_size
    parts = [take.affine(f"{name}.attention.self.{part}", dim, dim) for part in ("query", "key", "value")]
    return _Layer(
        query_key_value=_Affine(torch.cat([p.weight for p in parts]), torch.cat([p.bias for p in parts])),
        attended=take.affine(f"{name}.attention.output.dense", dim, dim),
        attended_norm=take.affine(f"{name}.attention.output.LayerNorm", dim),
        widened=take.affine(f"{name}.intermediate.dense", wide, dim),
        narrowed=take.affine(f"{name}.output.dense", dim, wide),
        narrowed_norm=take.affine(f"{name}.output.LayerNorm", dim),
    )
