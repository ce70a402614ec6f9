"""The losses of the generative reranker (generative matching, §4.1), of sequence log-likelihoods.

A log-likelihood is the mean over a segment's tokens, in nats, so that a margin of 2 is 2 nats a token: (pairs,) each.
q(t|c) is a post's after the claim, q(t) the post's alone, q(c|t) the claim's after the post, q(c) the claim's alone.
"""

import torch
from torch import Tensor

MARGIN = 2.0  # λ, nats a token


def hmi(conditional: Tensor, marginal: Tensor, margin: float = MARGIN) -> Tensor:
    """Hinged mutual information (eq. 6): log q(t|c) is to be above log q(t) by the margin. Needs no negatives."""
    return torch.relu(margin - conditional + marginal).mean()


def hpmi(conditional: Tensor, marginal: Tensor, margin: float = MARGIN) -> Tensor:
    """Hinged prior mutual information (eq. 7, as the text reads): where the margin is reached, plain likelihood."""
    reached = conditional - marginal >= margin
    return (-conditional + torch.where(reached, torch.zeros_like(marginal), marginal)).mean()


def pohmi(posterior: Tensor, claim: Tensor, margin: float = MARGIN) -> Tensor:
    """Posterior hinged mutual information: `hmi` of the claim, log q(c|t) over log q(c)."""
    return hmi(posterior, claim, margin)


def nl3u(right: list[Tensor], wrong: list[Tensor]) -> Tensor:
    """Likelihood of the post's tokens after the right claim, unlikelihood after a wrong one (dos Santos et al. 2020).

    Log-probabilities of the tokens of each post, (tokens,): it is a token, not a text, that is made unlikely.
    """
    likely = torch.stack([-tokens.mean() for tokens in right]).mean()
    # log(1 - p) by expm1 keeps its digits near p = 1; p = 1 itself would be infinite.
    unlikely = [-torch.log(-torch.expm1(tokens.clamp(max=-1e-6))).mean() for tokens in wrong]
    return likely + torch.stack(unlikely).mean()


def mix(
    conditional: Tensor, marginal: Tensor, posterior: Tensor, claim: Tensor, right: list[Tensor], wrong: list[Tensor]
) -> Tensor:
    """Eq. 8: HPMI + PoHMI + NL3U."""
    return hpmi(conditional, marginal) + pohmi(posterior, claim) + nl3u(right, wrong)
