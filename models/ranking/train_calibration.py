"""Fits the blend that ranks candidates and says how sure a match is. Train split to fit on, dev to measure.

Each post is shown four collections: all fact-checks, a random 45 with the right one among them, and both once more
with the right one taken out, so that the best that is left is wrong. Fitted on both sizes, a confidence holds for a
young collection and for an archive. Figures on train are out of fold, also where BM25's settings are concerned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import models
from domain.fact_check import FactCheck
from models.artifact import write_artifact
from models.backbone import Encoder
from models.evaluation.collections import PostCollection, load_checkthat
from models.evaluation.vectors import cached_vectors
from models.ranking.bm25 import FieldSettings
from models.ranking.calibration import NAMES, Calibration
from models.ranking.dates import DateOdds, day_differences, fit_odds
from models.ranking.encoder import TextEncoder
from models.ranking.evidence import FEATURES, MODES, SMALL, EvidenceFinder
from models.ranking.fact_check_text import embedding_text
from models.ranking.folds import assign_folds
from models.ranking.listwise import Example, fit
from models.ranking.outcomes import means, measure, outcomes, pooled, precisions
from models.ranking.post_words import Mode, PostWords, embed_posts
from models.ranking.train_bm25 import GRID, try_settings
from models.ranking.training_posts import gold_numbers, training_posts
from models.retrieval.post_text import posted_on

VERSION = "3"
_NO_DATES = DateOdds(np.zeros(0, dtype=np.float32), np.zeros(1, dtype=np.float32))


@dataclass(frozen=True, slots=True)
class Examples:
    """`large`: beside all fact-checks, first each post with its own and then each without. `small`: beside a few."""

    large: list[Example]
    small: list[Example]


@dataclass(frozen=True, slots=True)
class Fold:
    """Examples of other posts to fit on, and those that are kept to measure."""

    others: Examples
    kept: Examples


@dataclass(frozen=True, slots=True)
class Embedded:
    """A split's judged posts and the collection, embedded; `gold` numbers of each post's fact-checks."""

    fact_checks: Sequence[FactCheck]
    vectors: NDArray[np.float32]
    titles: NDArray[np.float32]
    posts: list[PostWords]
    days: list[NDArray[np.float64]]  # of each post: (fact-checks,)
    gold: list[frozenset[int]]
    encoder: TextEncoder
    companion: TextEncoder | None = None
    companions: NDArray[np.float32] | None = None  # of the fact-checks


def train(
    data: Path,
    out: Path | None = None,
    *,
    seed: int = 0,
    encoder: TextEncoder | None = None,
    multilingual: bool = False,
    cache: Path | None = None,
) -> dict[str, Any]:
    """Fit on CheckThat! 2022 in `data`, write weights and card to `out` (None: where the packaged ones lie).

    For the packaged encoder, or for the multilingual one with the packaged one as its companion. Gives the card.
    Embeddings are kept in `cache` between runs.
    """
    folder = out or Path(models.__file__).parent / "weights" / NAMES[multilingual]
    encoder = encoder or Encoder.load("multilingual" if multilingual else None)
    companion = Encoder.load() if multilingual else None
    posts = training_posts(data)
    embedded = embed(posts.collection, encoder, cache, companion)
    dev = embed(load_checkthat(data, "dev"), encoder, cache, companion)
    settings = FieldSettings.load()
    fitted = {mode: build_examples(embedded, settings, seed=seed, mode=mode) for mode in MODES}
    weights = {mode: fit([*e.large, *e.small], mode=mode) for mode, e in fitted.items()}
    dates = fit_dates(fitted["full"].large)
    calibration = Calibration(NAMES[multilingual], VERSION, encoder.version, weights, dates)
    held_out = {mode: build_examples(dev, settings, seed=seed, mode=mode) for mode in MODES}
    metrics = {
        "dev": {mode: _dev_figures(calibration, e, mode) for mode, e in held_out.items()},
        "train_out_of_fold": out_of_fold(fold_examples(posts.collection, embedded, seed=seed)),
    }
    facts = {"posts": len(posts.gold), "left_out_as_near_duplicates": posts.left_out}
    return _write(folder, calibration, data, seed=seed, facts=facts, metrics=metrics)


def embed(
    collection: PostCollection, encoder: TextEncoder, cache: Path | None, companion: TextEncoder | None = None
) -> Embedded:
    facts = collection.fact_checks
    encode = partial(cached_vectors, encoder=encoder, folder=cache)
    texts = [collection.queries[query] for query in collection.qrels]
    published = [fact.published_at for fact in facts]
    claims = [embedding_text(fact.claim, fact.title) for fact in facts]
    by_companion = partial(cached_vectors, encoder=companion, folder=cache) if companion else None
    return Embedded(
        facts,
        encode(claims),
        encode([fact.title or fact.claim for fact in facts]),
        [windows[0] for windows in embed_posts(texts, encode, modes=["full"] * len(texts), companion=by_companion)],
        [day_differences(posted_on(text), published) for text in texts],
        gold_numbers(collection),
        encoder,
        companion,
        by_companion(claims) if by_companion else None,
    )


def build_examples(embedded: Embedded, settings: FieldSettings, *, seed: int, mode: Mode = "full") -> Examples:
    """Two examples a post and size of collection: with the right fact-check, and without it."""
    posts = [replace(post, mode=mode) for post in embedded.posts]
    finder = _finder(embedded, np.arange(len(embedded.fact_checks)), settings)
    rng = np.random.default_rng(seed)
    small = [e for n, post in enumerate(posts) for e in _small(embedded, n, post, settings, rng)]
    return Examples(_examples(finder, posts, embedded.gold, embedded.days), small)


def fold_examples(collection: PostCollection, embedded: Embedded, *, seed: int) -> list[Fold]:
    """The examples by fold, each under settings of BM25 that were chosen without it."""
    folds = assign_folds(embedded.gold, seed=seed)
    settings = try_settings(collection, GRID).out_of_fold(folds)
    built = {chosen: build_examples(embedded, chosen, seed=seed) for chosen in dict.fromkeys(settings)}
    return [Fold(*_split(built[chosen], folds == fold)) for fold, chosen in enumerate(settings)]


def out_of_fold(folds: Sequence[Fold]) -> dict[str, dict[str, float]]:
    """Figures of posts under weights and dates that were fitted without them."""
    ranked: dict[str, list[float]] = {}
    large, small = [], []
    for fold in folds:
        weights = fit([*fold.others.large, *fold.others.small])
        calibration = Calibration("", VERSION, "", {"full": weights}, fit_dates(fold.others.large))
        for name, values in precisions(calibration, fold.kept.large).items():
            ranked.setdefault(name, []).extend(values)
        large.append(outcomes(calibration, fold.kept.large))
        small.append(outcomes(calibration, fold.kept.small))
    return {"large": means(ranked) | measure(pooled(large)), "small": measure(pooled(small))}


def _split(examples: Examples, kept: NDArray[np.bool_]) -> tuple[Examples, Examples]:
    """Those of other posts, and those of the posts that are kept."""
    others, here = (
        Examples(_where(examples.large, np.tile(posts, 2)), _where(examples.small, np.repeat(posts, 2)))
        for posts in (~kept, kept)
    )
    return others, here


def _dev_figures(calibration: Calibration, examples: Examples, mode: Mode) -> dict[str, dict[str, float]]:
    ranked = means(precisions(calibration, examples.large, mode=mode))
    large, small = (outcomes(calibration, e, mode=mode) for e in (examples.large, examples.small))
    return {"large": ranked | measure(large), "small": measure(small)}


def fit_dates(examples: Sequence[Example]) -> DateOdds:
    """Right candidates against the other candidates of their posts, which are near in subject and so also in time."""
    known = [example for example in examples if example.known]
    right = np.concatenate([e.days[e.right] for e in known])
    wrong = np.concatenate([e.days[~e.right] for e in known])
    right, wrong = right[~np.isnan(right)], wrong[~np.isnan(wrong)]
    return fit_odds(right, wrong) if len(right) else _NO_DATES


def _where(examples: Sequence[Example], kept: NDArray[np.bool_]) -> list[Example]:
    return [example for example, keep in zip(examples, kept, strict=True) if keep]


def _small(
    embedded: Embedded, number: int, post: PostWords, settings: FieldSettings, rng: np.random.Generator
) -> list[Example]:
    gold = embedded.gold[number]
    others = [int(n) for n in rng.choice(len(embedded.fact_checks), SMALL, replace=False) if n not in gold]
    chosen = [*others[: SMALL - len(gold)], *sorted(gold)]
    finder = _finder(embedded, np.array(chosen), settings)
    right = frozenset(range(len(chosen) - len(gold), len(chosen)))
    return _examples(finder, [post], [right], [embedded.days[number][chosen]])


def _finder(embedded: Embedded, chosen: NDArray[np.intp], settings: FieldSettings) -> EvidenceFinder:
    companions = embedded.companions
    return EvidenceFinder(
        [embedded.fact_checks[n] for n in chosen], embedded.vectors[chosen], embedded.encoder,
        titles=embedded.titles[chosen], settings=settings,
        companion=embedded.companion, companions=companions[chosen] if companions is not None else None,
    )  # fmt: skip


def _examples(
    finder: EvidenceFinder,
    posts: Sequence[PostWords],
    gold: Sequence[frozenset[int]],
    days: Sequence[NDArray[np.float64]],
) -> list[Example]:
    made = []
    for known, found in ((True, finder.find(posts)), (False, finder.find(posts, without=gold))):
        for evidence, numbers, of_post in zip(found, gold, days, strict=True):
            candidates = evidence.candidates.numbers
            right = np.isin(candidates, list(numbers))
            made.append(Example(evidence, right, known=known, days=of_post[candidates], gold=len(numbers)))
    return made


def _write(
    folder: Path,
    calibration: Calibration,
    data: Path,
    *,
    seed: int,
    facts: Mapping[str, int],
    metrics: Mapping[str, Any],
) -> dict[str, Any]:
    from safetensors.numpy import save

    dates = {"date_edges": calibration.dates.edges, "date_odds": calibration.dates.odds}
    content = save(dict(calibration.weights) | dates)
    multilingual = " --multilingual" if calibration.name == NAMES[True] else ""
    card = {
        "name": calibration.name,
        "version": VERSION,
        "encoder": calibration.encoder,
        "features": list(FEATURES),
        "weights": {mode: [round(float(w), 4) for w in of_mode] for mode, of_mode in calibration.weights.items()},
        "dates": {name: [round(float(x), 3) for x in values] for name, values in dates.items()},
        "data": "CheckThat! 2022 task 2A, English: fitted on train, chosen on train out of fold and dev",
        **facts,
        "seed": seed,
        "command": f"claimwatch retrain calibration --data {data.name} --seed {seed}{multilingual}",
        "metrics": metrics,
    }
    return write_artifact(folder, "model.safetensors", content, card)
