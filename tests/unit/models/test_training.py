from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from models.training import learn

IDENTITY = "a line through three points"


def batches() -> list[tuple[Tensor, Tensor]]:
    return [(torch.tensor([[float(x % 3)]]), torch.tensor([[2.0 * (x % 3) + 1]])) for x in range(100)]


def train(network: nn.Linear, checkpoint: Path, until: int = 100, identity: str = IDENTITY) -> list[str]:
    said: list[str] = []
    seen = 0

    def loss_of(batch: tuple[Tensor, Tensor]) -> Tensor:
        nonlocal seen
        seen += 1
        if seen > until:
            raise KeyboardInterrupt
        return nn.functional.mse_loss(network(batch[0]), batch[1])

    parameters = list(network.parameters())
    learn([(parameters, 0.1)], batches(), loss_of, checkpoint=checkpoint, identity=identity, say=said.append)
    return said


def fresh() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(1, 1)


def test_what_is_learned_is_the_same_when_it_was_cut_off_in_between(tmp_path: Path) -> None:
    whole, first, second = fresh(), fresh(), nn.Linear(1, 1)
    train(whole, tmp_path / "whole.pt")

    with pytest.raises(KeyboardInterrupt):
        train(first, tmp_path / "cut.pt", until=50)
    said = train(second, tmp_path / "cut.pt")

    assert said[0] == "going on after step 40 of 100"
    assert torch.equal(second.weight, whole.weight) and torch.equal(second.bias, whole.bias)
    assert whole.weight.item() == pytest.approx(2, abs=0.3)


def test_a_checkpoint_of_another_training_is_not_gone_on_from(tmp_path: Path) -> None:
    train(fresh(), tmp_path / "cut.pt")

    said = train(fresh(), tmp_path / "cut.pt", identity="another seed")

    assert said[0].startswith("step 20 of 100")
