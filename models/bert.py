"""BERT (Devlin et al. 2019) for inference on a CPU: token ids in, each text's last hidden states or their mean out.

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


class _Linear:
    """A linear layer, its weight laid out once as oneDNN likes it: a fifth faster here than MKL's product."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        self._bias = bias
        self._packed = hasattr(torch.ops.mkldnn, "_linear_pointwise")  # not in every build of torch
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight) if self._packed else weight

    def __call__(self, states: Tensor) -> Tensor:
        if not self._packed:
            return F.linear(states, self._weight, self._bias)
        product: Tensor = torch.ops.mkldnn._linear_pointwise(states, self._weight, self._bias, "none", [], "")
        return product


@dataclass(frozen=True, slots=True)
class _Norm:
    weight: Tensor
    bias: Tensor
    epsilon: float

    def __call__(self, states: Tensor) -> Tensor:
        return F.layer_norm(states, self.weight.shape, self.weight, self.bias, self.epsilon)


@dataclass(frozen=True, slots=True)
class _Layer:
    query_key_value: _Linear
    attended: _Linear
    attended_norm: _Norm
    widened: _Linear
    narrowed: _Linear
    narrowed_norm: _Norm


class Bert:
    """May be shared by threads."""

    def __init__(self, config: BertConfig, weights: Mapping[str, Tensor]) -> None:
        """Weights under their names in a checkpoint. Raises ValueError for one that is missing or of another shape."""
        self.config = config
        take = _Checkpoint(weights, config.layer_norm_eps)
        dim = config.hidden_size
        self._words = take.tensor("embeddings.word_embeddings.weight", config.vocab_size, dim)
        positions = take.tensor("embeddings.position_embeddings.weight", config.max_position_embeddings, dim)
        # A single text is all of the first of the two segment types.
        self._positions = (
            positions + take.tensor("embeddings.token_type_embeddings.weight", config.type_vocab_size, dim)[0]
        )
        self._norm = take.norm("embeddings.LayerNorm", dim)
        self._layers = [_layer(take, f"encoder.layer.{i}", config) for i in range(config.num_hidden_layers)]

    def mean_states(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """(texts, dim) from the token ids of each text, at least one; fastest where equal lengths stand together."""
        with torch.inference_mode():
            states, runs = self._states(texts)
            blocks = torch.split(states, [count * length for count, length in runs])
            means = [b.view(count, length, -1).mean(1) for b, (count, length) in zip(blocks, runs, strict=True)]
            return torch.cat(means)

    def token_states(self, texts: Sequence[Sequence[int]]) -> list[Tensor]:
        """(tokens, dim) of each text, from its token ids, at least one."""
        with torch.inference_mode():
            return list(torch.split(self._states(texts)[0], [len(ids) for ids in texts]))

    def _states(self, texts: Sequence[Sequence[int]]) -> tuple[Tensor, list[tuple[int, int]]]:
        """(tokens, dim), end to end, and the runs of texts of equal length: (texts, tokens of each)."""
        lengths = [len(ids) for ids in texts]
        ids = torch.tensor([token for ids in texts for token in ids])
        places = torch.cat([torch.arange(length) for length in lengths])
        runs = [(len(list(run)), length) for length, run in groupby(lengths)]
        states = self._norm(self._words[ids] + self._positions[places])  # (tokens, dim)
        # In place where it may be: fresh memory for every result costs a tenth of the time.
        for layer in self._layers:
            mixed = layer.attended(self._attention(layer.query_key_value(states), runs))
            states = layer.attended_norm(mixed.add_(states))
            wide = torch.ops.aten.gelu_(layer.widened(states))  # (tokens, intermediate_size)
            states = layer.narrowed_norm(layer.narrowed(wide).add_(states))
        return states, runs

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
    epsilon: float

    def tensor(self, name: str, *shape: int) -> Tensor:
        found = self.weights.get(name)
        if found is None:
            raise ValueError(f"lacks the tensor {name}")
        if found.shape != shape:
            raise ValueError(f"{name} has shape {tuple(found.shape)}, expected {shape}")
        return found.float()

    def linear(self, names: Sequence[str], outputs: int, inputs: int) -> _Linear:
        """One layer of several that read the same states, outputs side by side."""
        weights = [self.tensor(f"{name}.weight", outputs, inputs) for name in names]
        return _Linear(torch.cat(weights), torch.cat([self.tensor(f"{name}.bias", outputs) for name in names]))

    def norm(self, name: str, dim: int) -> _Norm:
        return _Norm(self.tensor(f"{name}.weight", dim), self.tensor(f"{name}.bias", dim), self.epsilon)


def _layer(take: _Checkpoint, name: str, config: BertConfig) -> _Layer:
    dim, wide = config.hidden_size, config.intermediate_size
    return _Layer(
        query_key_value=take.linear([f"{name}.attention.self.{part}" for part in ("query", "key", "value")], dim, dim),
        attended=take.linear([f"{name}.attention.output.dense"], dim, dim),
        attended_norm=take.norm(f"{name}.attention.output.LayerNorm", dim),
        widened=take.linear([f"{name}.intermediate.dense"], wide, dim),
        narrowed=take.linear([f"{name}.output.dense"], dim, wide),
        narrowed_norm=take.norm(f"{name}.output.LayerNorm", dim),
    )
