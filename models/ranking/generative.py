"""How likely a language model finds a post after a fact-check's claim (generative matching, eq. 3).

Among the fact-checks of one post, log p(claim | post) differs from log q(post | claim) only by the claim's prior, which
the paper takes to be even.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import models
from domain.errors import BadArtifact
from domain.fact_check import FactCheck
from models.artifact import read_artifact
from models.language_model import PACKAGED_SHA256, LanguageModel
from models.ranking.second_opinion import SecondOpinion
from models.retrieval.post_text import statement

FILE = "model.safetensors"
_POST, _CLAIM = 80, 48  # tokens


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
        model = LanguageModel.load(changes=load(content))
    except SafetensorError as exc:
        raise BadArtifact(f"{chosen} holds no changes that can be read: {exc}; {advice}") from exc
    return replace(model, name=f"{model.name} tuned", version=PACKAGED_SHA256[:6] + card["sha256"][:6])


def second_opinion(model: LanguageModel) -> SecondOpinion:
    return SecondOpinion(f"{model.name}@{model.version}", partial(likelihoods, model))


def likelihoods(model: LanguageModel, post: str, facts: Sequence[FactCheck]) -> NDArray[np.float64]:
    """(facts,) mean log-probability of the post's tokens after each claim, in nats."""
    said = post_segment(model, post)
    return np.array([model.likelihoods(claim_segment(model, fact), [said]).seconds[0] for fact in facts])


def post_segment(model: LanguageModel, post: str) -> list[int]:
    return model.segment("Tweet", statement(post), longest=_POST)


def claim_segment(model: LanguageModel, fact: FactCheck) -> list[int]:
    return model.segment("Claim", fact.claim or fact.title, longest=_CLAIM)
