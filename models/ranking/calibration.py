"""How sure a match is: the probability that a candidate is the right fact-check for a post.

A conditional logit with "none of them" as one more alternative (McFadden 1974): the candidates of a post, save those
that check the same claim, contest each other and the answer "none", whose strength is 0:

    strength_j = w · features_j + b        confidence_j = exp(strength_j) / (1 + exp(strength_j) + sum over rivals exp)

A plain logistic regression needs the lead over the next candidate as a feature, and then believes in whatever leads: of
posts about nothing in a collection of 45 fact-checks it gave every twentieth a confidence above .5, this one none.
"""

import hashlib
import json
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from domain.errors import BadArtifact
from models.ranking.evidence import FEATURES, Evidence


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights (FEATURES + 1,), the last one the constant: `full` for posts in a language the encoder knows, `lexical`
    for others, where the cosine has no weight. `encoder` is the version it was fitted with."""

    name: str
    version: str
    encoder: str
    full: NDArray[np.float32]
    lexical: NDArray[np.float32]

    @classmethod
    def load(cls, folder: Path | None = None) -> "Calibration":
        """From model.safetensors and card.json; None: the packaged ones. Raises BadArtifact if they do not fit."""
        if folder is not None:
            return _load(folder)
        with as_file(files("models").joinpath("weights", "calibration")) as packaged:
            return _load(packaged)

    def confidence(self, evidence: Evidence, *, lexical: bool) -> NDArray[np.float64]:
        """(candidates,) between 0 and 1."""
        weights = self.lexical if lexical else self.full
        strengths = (evidence.features @ weights[:-1] + weights[-1]).astype(np.float64)
        odds = np.exp(np.minimum(strengths, 50.0))  # e^50 is as sure as a float can say
        confidence: NDArray[np.float64] = odds / (1 + odds + evidence.rivals @ odds)
        return confidence


def _load(folder: Path) -> Calibration:
    from safetensors.numpy import load

    try:
        card = json.loads((folder / "card.json").read_text("utf-8"))
        content = (folder / "model.safetensors").read_bytes()
    except (OSError, ValueError) as exc:
        raise BadArtifact(f"{folder} holds no calibration: {exc}; run `claimwatch retrain calibration`") from exc
    if hashlib.sha256(content).hexdigest() != card.get("sha256"):
        raise BadArtifact(f"{folder}/model.safetensors is not what its card says: run `claimwatch retrain calibration`")
    if card.get("features") != list(FEATURES):
        raise BadArtifact(f"{folder} was fitted on other features: run `claimwatch retrain calibration`")
    tensors = load(content)
    return Calibration(card["name"], card["version"], card["encoder"], tensors["full"], tensors["lexical"])
