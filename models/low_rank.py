"""Low-rank changes to a network's weights (LoRA, Hu et al. 2021): what tuning ships instead of the whole network."""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

DOWN, UP = ".low_rank.down", ".low_rank.up"


class LowRank(nn.Module):
    """weight + up · down, where `up` begins as zeros: at first the network is what it was."""

    def __init__(self, outputs: int, inputs: int, rank: int) -> None:
        super().__init__()
        self.down = nn.Parameter(torch.randn(rank, inputs) / rank**0.5)
        self.up = nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.up @ self.down


def adapt(network: nn.Module, rank: int, layers: Sequence[str]) -> list[nn.Parameter]:
    """Freeze the network but for low-rank changes to each linear layer whose name ends with one of `layers`; what is
    left to train."""
    network.requires_grad_(False)
    chosen = [module for name, module in network.named_modules() if _is_chosen(name, module, layers)]
    trained: list[nn.Parameter] = []
    for module in chosen:
        change = LowRank(module.out_features, module.in_features, rank)
        parametrize.register_parametrization(module, "weight", change)
        trained += change.parameters()
    return trained


def changes(network: nn.Module) -> dict[str, Tensor]:
    """The low-rank changes of an adapted network, under the names of the weights that they change."""
    found: dict[str, Tensor] = {}
    for weight, change in _changes_of(network):
        found |= {weight + DOWN: change.down.detach().clone(), weight + UP: change.up.detach().clone()}
    return found


def changes_of_layers(layers: nn.Module, prefix: str, first: int) -> dict[str, Tensor]:
    """As `changes`, of a run of a network's layers that begins with the one of number `first`, under the names that
    they have in the whole: `prefix`, the number, the rest."""
    renamed = {}
    for name, weight in changes(layers).items():
        number, rest = name.split(".", 1)
        renamed[f"{prefix}.{int(number) + first}.{rest}"] = weight
    return renamed


def take_over(network: nn.Module, low_rank: Mapping[str, Tensor]) -> None:
    """Give an adapted network the changes of another. Raises KeyError for one that is missing and RuntimeError for one
    of another shape."""
    for weight, change in _changes_of(network):
        change.load_state_dict({"down": low_rank[weight + DOWN], "up": low_rank[weight + UP]})


def changed(weights: Mapping[str, Tensor], low_rank: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights with the changes made. Raises ValueError for a change to a weight that is not there or of another
    shape, and for numbers that are not finite."""
    if unknown := [name for name in sorted(low_rank) if not name.endswith((DOWN, UP))]:
        raise ValueError(f"{unknown[0]} is no low-rank change")
    result = dict(weights)
    for name in sorted({name.removesuffix(DOWN).removesuffix(UP) for name in low_rank}):
        down, up = (low_rank.get(name + part, torch.empty(0)).float() for part in (DOWN, UP))
        if name not in weights:
            raise ValueError(f"changes {name}, which the network lacks")
        if not _fits(down, up, weights[name]):
            expected = tuple(weights[name].shape)
            raise ValueError(f"{name}: changes of shapes {tuple(up.shape)} and {tuple(down.shape)} for {expected}")
        if not (torch.isfinite(up).all() and torch.isfinite(down).all()):
            raise ValueError(f"{name}: changes that are not finite")
        result[name] = weights[name].float() + up @ down
    return result


def _changes_of(network: nn.Module) -> Iterator[tuple[str, LowRank]]:
    """With the names of the weights that they change."""
    for name, module in network.named_modules():
        if isinstance(module, LowRank):
            yield name.replace(".parametrizations", "").removesuffix(".0"), module


def _fits(down: Tensor, up: Tensor, weight: Tensor) -> bool:
    matrices = down.dim() == 2 and up.dim() == 2 and up.shape[1] == down.shape[0]
    return matrices and (up.shape[0], down.shape[1]) == tuple(weight.shape)


def _is_chosen(name: str, module: nn.Module, layers: Sequence[str]) -> bool:
    return isinstance(module, nn.Linear) and name.endswith(tuple(layers))
