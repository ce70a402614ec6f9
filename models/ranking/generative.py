"""Reranks a post's best fact-checks by how likely a language model finds the post after the claim (generative
matching, eq. 3).

Among the fact-checks of one post, log p(claim | post) differs from log q(post | claim) only by the claim's prior, which
the paper takes to be even.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import models
from domain.errors import BadArtifact
from domain.fact_check import FactCheck
from models.artifact import read_artifact
from models.language_model import PACKAGED_SHA256, LanguageModel
from models.ranking.protocol import Ranker
from models.retrieval.post_text import statement

FILE = "model.safetensors"
DEPTH = 5  # of the other ranker's best, as in the paper for 2021
# Chosen on dev, where the blend gains by any weight from 4 to 8 and nothing by asking about more posts.
_LEAD = 2.0  # of the best over the next, in the blend's strength: above, it is sure
_WEIGHT = 5.0  # of a nat a token
_POST, _CLAIM = 80, 48  # tokens


Likely = Callable[[str, Sequence[FactCheck]], NDArray[np.float64]]  # of a post after each claim


@dataclass(frozen=True, slots=True)
class GenerativeRanker:
    """Implements Ranker: the `DEPTH` best of another by how likely the post is after each, the rest as the other has
    it."""

    base: Ranker
    likely: Likely
    name: str = "generative"

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        scores = self.base.score(posts, candidates)
        for post, row in zip(posts, scores, strict=True):
            best = np.argsort(-row, kind="stable")[:DEPTH]
            # Above all others: likelihoods are below 0.
            row -= row.max(initial=0.0)
            row[best] = self.likely(post, [candidates[number] for number in best])
            rest = np.setdiff1d(np.arange(len(row)), best)
            row[rest] += row[best].min(initial=0.0)
        return scores


@dataclass(frozen=True, slots=True)
class Cascade:
    """Implements Ranker: as another ranks, but of the posts whose best it is not sure of the `DEPTH` best by its score
    and how likely the post is after each, together."""

    base: Ranker
    likely: Likely
    name: str = "cascade"

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        scores = self.base.score(posts, candidates)
        for post, row in zip(posts, scores, strict=True):
            best = np.argsort(-row, kind="stable")[:DEPTH]
            if len(best) > 1 and row[best[0]] - row[best[1]] < _LEAD:
                found = self.likely(post, [candidates[number] for number in best])
                row[best] += _WEIGHT * (found - found.min())  # none falls behind those that were not asked
        return scores


def tuned_model(folder: Path | None = None) -> LanguageModel:
    """The packaged language model with the low-rank changes in `folder` (None: the shipped ones). Raises BadArtifact
    for changes that are missing, damaged or do not fit it."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    chosen = folder or Path(models.__file__).parent / "weights" / "generative"
    advice = "run `claimwatch retrain generative`"
    card, content = read_artifact(chosen, FILE, advice=advice)
    if card.get("language_model") != PACKAGED_SHA256:
        raise BadArtifact(f"{chosen} was tuned from {card.get('language_model')}, not {PACKAGED_SHA256}; {advice}")
    try:
        return LanguageModel.load(changes=load(content))
    except SafetensorError as exc:
        raise BadArtifact(f"{chosen} holds no changes that can be read: {exc}; {advice}") from exc


def likelihoods(model: LanguageModel, post: str, facts: Sequence[FactCheck]) -> NDArray[np.float64]:
    """(facts,) mean log-probability of the post's tokens after each claim, in nats."""
    said = post_segment(model, post)
    return np.array([model.likelihoods(claim_segment(model, fact), [said]).seconds[0] for fact in facts])


def post_segment(model: LanguageModel, post: str) -> list[int]:
    return model.segment("Tweet", statement(post), longest=_POST)


def claim_segment(model: LanguageModel, fact: FactCheck) -> list[int]:
    return model.segment("Claim", fact.claim or fact.title, longest=_CLAIM)
