"""Tunes what a word is worth in claim, title and body, and BM25's constants: on the train split alone.

Every setting of a grid is measured once on every post; which one is best out of fold is then a matter of means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import models
from models.artifact import write_artifact
from models.evaluation.collections import PostCollection, load_checkthat
from models.evaluation.metrics import average_precision
from models.ranking.bm25 import FieldSettings
from models.ranking.fact_check_text import indexed_fields
from models.ranking.folds import assign_folds
from models.ranking.training_posts import TrainingPosts, training_posts
from models.retrieval.analyser import ENGLISH
from models.retrieval.bm25 import FieldedBM25
from models.retrieval.post_text import search_words

NAME = "bm25f"
TITLES, BODIES = (0.75, 1.0, 1.5), (0.3, 0.5, 0.75)  # weights beside the claim's 1
K1S, BS = (0.6, 0.9, 1.2, 1.6), (0.45, 0.6, 0.75)
GRID = tuple(FieldSettings((1.0, t, body), k1, b) for t, body, k1, b in product(TITLES, BODIES, K1S, BS))
_DEPTH = 5


@dataclass(frozen=True, slots=True)
class Trials:
    """AP@1 and AP@5 of each post under each setting, (settings, posts)."""

    settings: tuple[FieldSettings, ...]
    ap1: NDArray[np.float64]
    ap5: NDArray[np.float64]

    def best(self, posts: NDArray[np.bool_]) -> int:
        """The setting of the greatest AP@1 + AP@5 over these posts, the first of equals."""
        return int(np.argmax((self.ap1 + self.ap5)[:, posts].mean(axis=1).round(9)))

    def out_of_fold(self, folds: NDArray[np.intp]) -> list[FieldSettings]:
        """The setting for each fold, chosen on the others."""
        return [self.settings[self.best(folds != fold)] for fold in range(int(folds.max()) + 1)]


def train(
    data: Path, out: Path | None = None, *, seed: int = 0, grid: Sequence[FieldSettings] = GRID
) -> dict[str, Any]:
    """Tune on CheckThat! 2022 in `data`, write settings and card to `out` (None: where the packaged ones lie)."""
    folder = out or Path(models.__file__).parent / "weights" / NAME
    posts = training_posts(data)
    trials = try_settings(posts.collection, grid)
    folds = assign_folds(posts.gold, seed=seed)
    everyone = np.ones(len(posts.gold), dtype=np.bool_)
    chosen = grid[trials.best(everyone)]
    dev = try_settings(load_checkthat(data, "dev"), [chosen])
    metrics = {
        "train_out_of_fold": _out_of_fold(trials, folds),
        "dev": {"map1": round(float(dev.ap1.mean()), 4), "map5": round(float(dev.ap5.mean()), 4)},
    }
    return _write(folder, chosen, posts, data, seed=seed, metrics=metrics)


def try_settings(posts: PostCollection, grid: Sequence[FieldSettings]) -> Trials:
    """Texts are analysed once, whatever the number of settings."""
    keys = [fact.key for fact in posts.fact_checks]
    texts = [[ENGLISH(field) for field in indexed_fields(fact)] for fact in posts.fact_checks]
    queries = [ENGLISH(search_words(posts.queries[query])) for query in posts.qrels]
    found = []
    for setting in grid:
        index = FieldedBM25(setting.weights, analyser=_tokens, k1=setting.k1, b=setting.b)
        index.add_fields(keys, texts)  # type: ignore[arg-type]  # analysed already
        ids, ranking = index.ids, index.rank(queries, _DEPTH).documents
        rankings = [[ids[number] for number in row if number >= 0] for row in ranking.tolist()]
        pairs = list(zip(rankings, posts.qrels.values(), strict=True))
        found.append([[average_precision(k)(ranked, gold) for ranked, gold in pairs] for k in (1, 5)])
    measured = np.array(found, dtype=np.float64)  # (settings, 2, posts)
    return Trials(tuple(grid), measured[:, 0], measured[:, 1])


def _tokens(text: Any) -> Any:
    return text


def _out_of_fold(trials: Trials, folds: NDArray[np.intp]) -> dict[str, float]:
    of_post = np.array([trials.settings.index(setting) for setting in trials.out_of_fold(folds)])[folds]
    posts = np.arange(len(folds))
    return {
        name: round(float(values[of_post, posts].mean()), 4)
        for name, values in (("map1", trials.ap1), ("map5", trials.ap5))
    }


def _write(
    folder: Path, chosen: FieldSettings, posts: TrainingPosts, data: Path, *, seed: int, metrics: dict[str, Any]
) -> dict[str, Any]:
    content = chosen.as_json().encode()
    card = {
        "name": NAME,
        "data": "CheckThat! 2022 task 2A, English: tuned on train; dates at the end of posts left out",
        "posts": len(posts.gold),
        "left_out_as_near_duplicates": posts.left_out,
        "seed": seed,
        "command": f"claimwatch retrain {NAME} --data {data.name} --seed {seed}",
        "metrics": metrics,
    }
    return write_artifact(folder, "settings.json", content, card)
