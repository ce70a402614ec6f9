"""Each loss on a case small enough to work out by hand, in nats a token."""

import math

import pytest
import torch
from torch import Tensor

from models.ranking.generative_losses import hmi, hpmi, mix, nl3u, pohmi


def logs(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_hinged_mutual_information_asks_for_the_margin_and_no_more() -> None:
    conditional, marginal = logs(-1.0, -3.0), logs(-4.0, -3.5)

    # The first pair is 3 nats above its prior; the second one half a nat, so 1.5 are missing.
    assert hmi(conditional, marginal).item() == pytest.approx((0 + 1.5) / 2)
    assert hmi(conditional, marginal, margin=0.25).item() == 0


def test_beyond_the_margin_the_prior_is_let_alone_and_the_likelihood_still_grows() -> None:
    conditional, marginal = logs(-1.0, -3.0), logs(-4.0, -3.5)

    loss = hpmi(conditional, marginal)
    loss.backward()  # type: ignore[no-untyped-call]

    assert loss.item() == pytest.approx((1.0 + (3.0 - 3.5)) / 2)
    assert conditional.grad is not None and conditional.grad.tolist() == [-0.5, -0.5]
    assert marginal.grad is not None and marginal.grad.tolist() == [0, 0.5]


def test_the_posterior_is_hinged_over_the_claims_prior() -> None:
    assert pohmi(logs(-2.0), logs(-3.0)).item() == pytest.approx(1.0)
    assert pohmi(logs(-2.0), logs(-4.5)).item() == 0


def test_unlikelihood_counts_token_by_token() -> None:
    right = [logs(math.log(0.5), math.log(0.25))]
    wrong = [logs(math.log(0.5), math.log(0.2))]

    expected = -(math.log(0.5) + math.log(0.25)) / 2 - (math.log(0.5) + math.log(0.8)) / 2
    assert nl3u(right, wrong).item() == pytest.approx(expected)


def test_unlikelihood_of_a_certain_token_is_finite_and_has_a_gradient() -> None:
    certain = logs(0.0, -1.0)

    loss = nl3u([logs(-1.0)], [certain])
    loss.backward()  # type: ignore[no-untyped-call]

    assert math.isfinite(loss.item())
    assert certain.grad is not None and torch.isfinite(certain.grad).all()


def test_mix_is_the_sum_of_its_three() -> None:
    conditional, marginal, posterior, claim = logs(-1.0), logs(-2.0), logs(-2.0), logs(-3.0)
    right, wrong = [logs(-1.0, -2.0)], [logs(-0.5)]

    parts = hpmi(conditional, marginal) + pohmi(posterior, claim) + nl3u(right, wrong)
    assert mix(conditional, marginal, posterior, claim, right, wrong).item() == pytest.approx(parts.item())
