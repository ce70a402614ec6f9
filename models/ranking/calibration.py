"""How sure a match is: the probability that a candidate is the right fact-check for a post.

A conditional logit with "none of them" as one more alternative (McFadden 1974): the candidates of a post, save those
that check the same claim, contest each other and the answer "none", whose strength is 0:

    strength_j = w · features_j + b + prior_j
    confidence_j = exp(strength_j) / (1 + exp(strength_j) + sum over rivals exp)

A plain logistic regression needs the lead over the next candidate as a feature, and then believes in whatever leads: of
posts about nothing in a collection of 45 fact-checks it gave every twentieth a confidence above .5, this one none.

The strengths alone are the blend that candidates are ranked by: they are fitted listwise, each post's right candidate
against its others. The prior is what the dates say, where they are looked at (`dates.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from domain.errors import BadArtifact
from models.artifact import read_artifact
from models.ranking.dates import DateOdds
from models.ranking.evidence import FEATURES, MODES, Evidence
from models.ranking.post_words import Mode

NAMES = {False: "calibration", True: "calibration_multilingual"}  # by whether the encoder is the multilingual one
Prior = NDArray[np.float64] | float  # (candidates,), added to the strengths


@dataclass(frozen=True, slots=True)
class Calibration:
    """`weights` (FEATURES + 1,) of each mode (`evidence.MODES`), the last one the constant. `encoder` is the version it
    was fitted with."""

    name: str
    version: str
    encoder: str
    weights: Mapping[Mode, NDArray[np.float32]]
    dates: DateOdds

    @classmethod
    def load(cls, folder: Path | None = None, *, multilingual: bool = False) -> "Calibration":
        """From model.safetensors and card.json; None: the packaged ones, for the packaged encoder or for the
        multilingual one beside it. Raises BadArtifact if they do not fit."""
        if folder is not None:
            return _load(folder, "")
        with as_file(files("models").joinpath("weights", NAMES[multilingual])) as packaged:
            return _load(packaged, " --multilingual" if multilingual else "")

    def strengths(self, evidence: Evidence, *, mode: Mode = "full", prior: Prior = 0.0) -> NDArray[np.float64]:
        """(candidates,): the greater, the likelier the right one; below 0 less likely than "none of them"."""
        weights = self.weights[mode].astype(np.float64)
        strengths: NDArray[np.float64] = evidence.features @ weights[:-1] + weights[-1] + prior
        return strengths

    def confidence(self, evidence: Evidence, *, mode: Mode = "full", prior: Prior = 0.0) -> NDArray[np.float64]:
        """(candidates,) between 0 and 1."""
        return confidences(self.strengths(evidence, mode=mode, prior=prior), evidence.rivals)


def confidences(strengths: NDArray[np.float64], rivals: NDArray[np.bool_]) -> NDArray[np.float64]:
    """(candidates,) between 0 and 1."""
    odds = np.exp(np.minimum(strengths, 50.0))  # as sure as floats go
    found: NDArray[np.float64] = odds / (1 + odds + rivals @ odds)
    return found


def _load(folder: Path, option: str) -> Calibration:
    from safetensors.numpy import load

    advice = f"run `claimwatch retrain calibration{option}`"
    card, content = read_artifact(folder, "model.safetensors", what="calibration", advice=advice)
    if card.get("features") != list(FEATURES):
        raise BadArtifact(f"{folder} was fitted on other features: {advice}")
    tensors = load(content)
    dates = DateOdds(tensors["date_edges"], tensors["date_odds"])
    weights = {mode: tensors[mode] for mode in MODES}
    return Calibration(card["name"], card["version"], card["encoder"], weights, dates)
