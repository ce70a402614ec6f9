"""What may and what may not influence an action."""

import pytest
import torch

from models.rewriting.decision_transformer.network import Config, DecisionTransformer, Outlook

B, K, DIM, WORDS = 2, 4, 12, 5


def network(**changes: object) -> DecisionTransformer:
    torch.manual_seed(0)
    return DecisionTransformer(Config(DIM, heads=2, width=16, **changes)).train(False)  # type: ignore[arg-type]


def inputs(*, pointer: bool = False) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    states = torch.randn(B, K, WORDS, DIM) if pointer else torch.randn(B, K, DIM)
    return torch.rand(B, K), states, torch.randint(0, 128, (B, K))


def is_equal(one: Outlook, other: Outlook, steps: slice) -> bool:
    return torch.allclose(one.logits[:, steps], other.logits[:, steps], atol=1e-5)


@pytest.mark.parametrize("pointer", [False, True])
def test_an_action_follows_from_what_came_before_it_alone(pointer: bool) -> None:
    asked = network(pointer=pointer)
    returns, states, actions = inputs(pointer=pointer)
    found = asked(returns, states, actions)
    for changed in ((returns + 1, states, actions), (returns, states + 1, actions)):
        pairs = zip((returns, states, actions), changed, strict=True)
        later = [torch.cat([old[:, :2], new[:, 2:]], 1) for old, new in pairs]
        assert is_equal(found, asked(*later), slice(0, 2))
        assert not is_equal(found, asked(*later), slice(2, 3))
    own = actions.clone()
    own[:, 1] = (own[:, 1] + 1) % 128
    assert is_equal(found, asked(returns, states, own), slice(0, 2))
    assert not is_equal(found, asked(returns, states, own), slice(2, 3))


def test_the_return_asked_for_matters_unless_there_are_no_layers() -> None:
    returns, states, actions = inputs()
    for layers, is_same in ((2, False), (0, True)):
        asked = network(layers=layers)
        first = slice(0, 1)
        assert is_equal(asked(returns, states, actions), asked(returns + 2, states, actions), first) is is_same


def test_a_pointer_goes_with_the_words_and_ignores_where_there_are_none() -> None:
    asked = network(pointer=True)
    returns, states, actions = inputs(pointer=True)
    found = asked(returns, states, actions).logits
    order = torch.tensor([3, 1, 4, 0, 2])
    turned = asked(returns, states[:, :, order], actions).logits
    for kind in range(4):
        of_kind = slice(32 * kind, 32 * kind + WORDS)
        assert torch.allclose(turned[..., of_kind], found[..., of_kind][..., order], atol=1e-5)
    padded = torch.cat([states, torch.zeros(B, K, 3, DIM)], 2)
    wider = asked(returns, padded, actions).logits
    assert torch.allclose(wider[..., :WORDS], found[..., :WORDS], atol=1e-5)
    assert torch.allclose(wider[..., -1], found[..., -1], atol=1e-5)


@torch.no_grad()
def test_a_boolean_endpoint_has_160_edits_and_worths_lie_between_0_and_1() -> None:
    found = network(kinds=5)(*inputs())
    assert found.logits.shape == found.worths.shape == (B, K, 161)
    assert 0 <= found.worths.min().item() <= found.worths.max().item() <= 1
