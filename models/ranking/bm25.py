"""Ranks by BM25 over claim, title and body."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from domain.errors import BadArtifact
from domain.fact_check import FactCheck
from models.artifact import read_artifact
from models.ranking.fact_check_text import FIELDS, indexed_fields
from models.retrieval.bm25 import BM25Index, FieldedBM25
from models.retrieval.post_text import search_words


@dataclass(frozen=True, slots=True)
class FieldSettings:
    """What a word is worth in each of `FIELDS`, and BM25's constants; tuned by `claimwatch retrain bm25f`."""

    weights: tuple[float, ...]
    k1: float
    b: float

    @classmethod
    def load(cls, folder: Path | None = None) -> "FieldSettings":
        """From settings.json and card.json; None: the packaged ones. Raises BadArtifact if they do not fit."""
        if folder is not None:
            return _load(folder)
        with as_file(files("models").joinpath("weights", "bm25f")) as packaged:
            return _load(packaged)

    def as_json(self) -> str:
        fields = dict(zip(FIELDS, self.weights, strict=True))
        return json.dumps({"weights": fields, "k1": self.k1, "b": self.b}, indent=2) + "\n"


def index_fact_checks(fact_checks: Sequence[FactCheck], settings: FieldSettings | None = None) -> FieldedBM25:
    """An index whose scores stand in the order of the fact-checks."""
    settings = settings or FieldSettings.load()
    index = FieldedBM25(settings.weights, k1=settings.k1, b=settings.b)
    index.add_fields(_numbers(fact_checks), [indexed_fields(fact_check) for fact_check in fact_checks])
    return index


class BM25Ranker:
    """Implements Ranker. Words count as rare or common by the collection; a candidate outside of it scores 0."""

    name = "bm25f"

    def __init__(self, fact_checks: Sequence[FactCheck], settings: FieldSettings | None = None) -> None:
        self._index = index_fact_checks(fact_checks, settings)
        self._columns = {fact_check.key: n for n, fact_check in enumerate(fact_checks)}

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        return chosen_columns([self._index.scores(search_words(post)) for post in posts], self._columns, candidates)


class PlainBM25Ranker:
    """Implements Ranker: the customary baseline, all fields as one text against the raw post (k1 1.5, b .75)."""

    name = "bm25"

    def __init__(self, fact_checks: Sequence[FactCheck]) -> None:
        self._index = BM25Index()
        self._index.add(_numbers(fact_checks), [" ".join(indexed_fields(fact_check)) for fact_check in fact_checks])
        self._columns = {fact_check.key: n for n, fact_check in enumerate(fact_checks)}

    def score(self, posts: Sequence[str], candidates: Sequence[FactCheck]) -> NDArray[np.float32]:
        return chosen_columns([self._index.scores(post) for post in posts], self._columns, candidates)


def chosen_columns(
    scores: Sequence[NDArray[np.float32]], columns: dict[str, int], candidates: Sequence[FactCheck]
) -> NDArray[np.float32]:
    """(posts, candidates) from (fact-checks,) for each post; 0 for a candidate that the collection lacks."""
    wanted = np.array([columns.get(candidate.key, -1) for candidate in candidates], dtype=np.intp)
    chosen = np.zeros((len(scores), len(candidates)), dtype=np.float32)
    for row, of_post in enumerate(scores):
        chosen[row, wanted >= 0] = of_post[wanted[wanted >= 0]]
    return chosen


def _load(folder: Path) -> FieldSettings:
    what, advice = "settings of BM25", "run `claimwatch retrain bm25f`"
    _, content = read_artifact(folder, "settings.json", what=what, advice=advice)
    try:
        found = json.loads(content)
        weights = tuple(float(found["weights"][field]) for field in FIELDS)
        return FieldSettings(weights, float(found["k1"]), float(found["b"]))
    except (ValueError, KeyError, TypeError) as exc:
        raise BadArtifact(f"{folder} holds no {what}: {exc!r}; {advice}") from exc


def _numbers(fact_checks: Sequence[FactCheck]) -> list[str]:
    """Ids whose string order is the order of the fact-checks."""
    return [f"{number:09d}" for number in range(len(fact_checks))]
