import pytest
import torch
from torch import Tensor, nn

from models import low_rank
from models.low_rank import DOWN, UP

CHOSEN = "0.weight"


def network() -> nn.Sequential:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))


def changes_of(*, up: Tensor | None = None, down: Tensor | None = None, name: str = CHOSEN) -> dict[str, Tensor]:
    return {
        name + UP: torch.ones(4, 2) if up is None else up,
        name + DOWN: torch.ones(2, 5) if down is None else down,
    }


def trained() -> tuple[nn.Sequential, list[nn.Parameter]]:
    """Two of three layers adapted, with changes that are not zeros."""
    adapted = network()
    parameters = low_rank.adapt(adapted, 2, ["0", "4"])
    with torch.no_grad():
        for parameter in parameters:
            parameter.normal_()
    return adapted, parameters


def test_a_network_that_was_just_adapted_is_what_it_was() -> None:
    adapted, inputs = network(), torch.randn(6, 5)
    low_rank.adapt(adapted, 2, ["0", "4"])
    torch.testing.assert_close(adapted(inputs), network()(inputs))


def test_plain_weights_with_the_changes_made_equal_the_adapted_network() -> None:
    (adapted, _), plain, inputs = trained(), network(), torch.randn(6, 5)
    assert not torch.allclose(adapted(inputs), plain(inputs), atol=1e-2), "else nothing is shown"
    plain.load_state_dict(low_rank.changed(plain.state_dict(), low_rank.changes(adapted)))
    torch.testing.assert_close(plain(inputs), adapted(inputs))


def test_only_the_changes_of_the_chosen_layers_are_trained() -> None:
    adapted, parameters = trained()
    wanting = [parameter for parameter in adapted.parameters() if parameter.requires_grad]
    assert {id(parameter) for parameter in wanting} == {id(parameter) for parameter in parameters}
    assert sum(parameter.numel() for parameter in parameters) == 2 * (5 + 4) + 2 * (4 + 2)
    assert set(low_rank.changes(adapted)) == {f"{n}.weight{part}" for n in (0, 4) for part in (DOWN, UP)}


def test_changes_do_not_follow_the_network_after_they_were_taken() -> None:
    adapted, parameters = trained()
    taken = low_rank.changes(adapted)
    before = {name: change.clone() for name, change in taken.items()}
    with torch.no_grad():
        parameters[0].add_(1)
    assert all(torch.equal(taken[name], before[name]) for name in taken)


def test_the_given_weights_stay_as_they_are() -> None:
    weights = network().state_dict()
    before = {name: weight.clone() for name, weight in weights.items()}
    result = low_rank.changed(weights, changes_of())
    assert all(torch.equal(weights[name], before[name]) for name in weights)
    assert {name for name in result if not torch.equal(result[name], before[name])} == {CHOSEN}


@pytest.mark.parametrize(
    "changes",
    [
        changes_of(up=torch.ones(3, 2)),
        changes_of(down=torch.ones(2, 4)),
        changes_of(up=torch.ones(4, 3)),
        changes_of(up=torch.ones(4)),
        changes_of(down=torch.ones(5)),
        changes_of(up=torch.ones(4, 2, 1)),
        {CHOSEN + DOWN: torch.ones(2, 5)},
        {CHOSEN + UP: torch.ones(4, 2)},
    ],
)
def test_changes_of_another_shape_are_refused(changes: dict[str, Tensor]) -> None:
    with pytest.raises(ValueError, match=r"0\.weight: changes of shapes .* for \(4, 5\)"):
        low_rank.changed(network().state_dict(), changes)


def test_a_change_to_a_weight_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"changes 7\.weight, which the network lacks"):
        low_rank.changed(network().state_dict(), changes_of(name="7.weight"))


def test_what_is_no_low_rank_change_is_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.weight is no low-rank change"):
        low_rank.changed(network().state_dict(), {CHOSEN: torch.ones(4, 5)})


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("part", [UP, DOWN])
def test_numbers_that_are_not_finite_are_refused(part: str, number: float) -> None:
    changes = changes_of()
    changes[CHOSEN + part][0, 0] = number
    with pytest.raises(ValueError, match=r"0\.weight: changes that are not finite"):
        low_rank.changed(network().state_dict(), changes)
