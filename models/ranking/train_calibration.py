"""Fits how sure a match is. Train split to fit on, dev to measure.

Each post is shown four collections: all fact-checks, a random 45 with the right one among them, and both once more
with the right one taken out, so that the best that is left is wrong. Fitted on both sizes, a confidence holds for a
young collection and for an archive.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import models
from domain.fact_check import FactCheck
from models.backbone import Encoder
from models.evaluation.collections import PostCollection, load_checkthat
from models.evaluation.reliability import auroc, brier_score, calibration_error
from models.evaluation.vectors import cached_vectors
from models.ranking.calibration import Calibration
from models.ranking.encoder import TextEncoder
from models.ranking.evidence import CANDIDATES, FEATURES, Evidence, EvidenceFinder, PostWords
from models.ranking.fact_check_text import embedding_text
from models.retrieval.post_text import clean_post

NAME, VERSION = "calibration", "1"
MODES = ("full", "lexical")
SMALL = 45  # fact-checks of a young collection
_RIDGE = 1e-3  # pull of the weights (of standardised features) towards 0


@dataclass(frozen=True, slots=True)
class Example:
    """A post beside a collection: what speaks for its candidates, and which of them is right (none: all False)."""

    evidence: Evidence
    right: NDArray[np.bool_]  # (candidates,)
    known: bool  # whether the right fact-check is in the collection


@dataclass(frozen=True, slots=True)
class Examples:
    large: list[Example]
    small: list[Example]


def train(
    data: Path, out: Path | None = None, *, seed: int = 0, encoder: TextEncoder | None = None, cache: Path | None = None
) -> dict[str, Any]:
    """Fit on CheckThat! 2022 in `data`, write weights and card to `out` (None: where the packaged ones lie).

    Gives the card. Embeddings are kept in `cache` between runs.
    """
    folder = out or Path(models.__file__).parent / "weights" / NAME
    encoder = encoder or Encoder.load()
    build = partial(build_examples, data, encoder=encoder, seed=seed, cache=cache)
    fitted = {mode: build("train", lexical=mode == "lexical") for mode in MODES}
    weights = {mode: fit([*e.large, *e.small], lexical=mode == "lexical") for mode, e in fitted.items()}
    calibration = Calibration(NAME, VERSION, encoder.version, **weights)
    metrics = {}
    for mode in MODES:
        dev = build("dev", lexical=mode == "lexical")
        sizes = {"large": dev.large, "small": dev.small}
        metrics[mode] = {size: measure(calibration, e, lexical=mode == "lexical") for size, e in sizes.items()}
    return _write(folder, calibration, data, seed, metrics)


def build_examples(
    data: Path, split: str, *, encoder: TextEncoder, seed: int, cache: Path | None, lexical: bool
) -> Examples:
    """Two examples a post and size of collection: with the right fact-check, and without it."""
    collection = load_checkthat(data, split)
    facts = collection.fact_checks
    vectors = cached_vectors([embedding_text(f.claim, f.title) for f in facts], encoder, cache)
    texts = [clean_post(collection.queries[query]) for query in collection.qrels]
    embedded = cached_vectors(texts, encoder, cache)
    posts = [PostWords(text, vector, lexical) for text, vector in zip(texts, embedded, strict=True)]
    gold = _gold_numbers(collection)
    rng = np.random.default_rng(seed)
    small = [e for post, g in zip(posts, gold, strict=True) for e in _small(post, g, facts, vectors, rng)]
    return Examples(_examples(EvidenceFinder(facts, vectors), posts, gold), small)


def fit(examples: Sequence[Example], *, lexical: bool) -> NDArray[np.float32]:
    """Weights (FEATURES + 1,) of the greatest likelihood of the right answer, by L-BFGS.

    In double precision, so that the optimum does not depend on the order of sums. Lexical: the cosine weighs nothing.
    """
    features, present, right, rivals = _stack(examples)
    used = torch.tensor([not (lexical and name == "cosine") for name in FEATURES])
    mean, deviation = features[present].mean(0), features[present].std(0)
    standard = (features - mean) / deviation * used
    parameters = torch.zeros(len(FEATURES) + 1, requires_grad=True, dtype=torch.float64)
    optimiser = torch.optim.LBFGS(
        [parameters], max_iter=500, tolerance_grad=1e-9, tolerance_change=1e-12, line_search_fn="strong_wolfe"
    )

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        strengths = standard @ parameters[:-1] + parameters[-1]
        loss = _negative_log_likelihood(strengths, present, right, rivals) + _RIDGE * (parameters[:-1] ** 2).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimiser.step(closure)  # type: ignore[no-untyped-call]
    found = parameters.detach()
    weights = found[:-1] / deviation * used
    return torch.cat([weights, found[-1:] - (weights * mean).sum()]).float().numpy()


def measure(calibration: Calibration, examples: Sequence[Example], *, lexical: bool) -> dict[str, float]:
    """How the confidence of each post's best candidate fares, posts with and without their fact-check half and half.

    `auroc`: telling posts whose fact-check is there from those whose it is not. `precision` and `recall`: of answers
    with a confidence of .5 or more, over the former posts. `unknown_above_.1`: share of the latter with more than that.
    """
    confidences = [calibration.confidence(example.evidence, lexical=lexical) for example in examples]
    best = np.array([c.max() for c in confidences])
    right = np.array([example.right[c.argmax()] for example, c in zip(examples, confidences, strict=True)])
    known = np.array([example.known for example in examples])
    sure = best >= 0.5
    figures = {
        "calibration_error": calibration_error(best, right),
        "brier": brier_score(best, right),
        "auroc": auroc(best, known),
        "precision": float(right[sure].mean()),
        "recall": float((right & sure).sum() / known.sum()),
        "unknown_above_.1": float((best[~known] > 0.1).mean()),
    }
    return {name: round(value, 4) for name, value in figures.items()}


def _gold_numbers(collection: PostCollection) -> list[frozenset[int]]:
    numbers = {fact_check.key: number for number, fact_check in enumerate(collection.fact_checks)}
    return [frozenset(numbers[key] for key in keys) for keys in collection.qrels.values()]


def _small(
    post: PostWords,
    gold: frozenset[int],
    facts: Sequence[FactCheck],
    vectors: NDArray[np.float32],
    rng: np.random.Generator,
) -> list[Example]:
    others = [int(n) for n in rng.choice(len(facts), SMALL, replace=False) if n not in gold]
    chosen = [*others[: SMALL - len(gold)], *sorted(gold)]
    finder = EvidenceFinder([facts[n] for n in chosen], vectors[chosen])
    return _examples(finder, [post], [frozenset(range(len(chosen) - len(gold), len(chosen)))])


def _examples(finder: EvidenceFinder, posts: Sequence[PostWords], gold: Sequence[frozenset[int]]) -> list[Example]:
    with_gold = zip(finder.find(posts), gold, strict=True)
    without = finder.find(posts, without=gold)
    known = [Example(evidence, np.isin(evidence.candidates.numbers, list(g)), known=True) for evidence, g in with_gold]
    return known + [Example(e, np.zeros(len(e.candidates.numbers), dtype=np.bool_), known=False) for e in without]


def _stack(examples: Sequence[Example]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """features (N, C, F), present (N, C), right (N, C), rivals (N, C, C)."""
    shape = (len(examples), CANDIDATES)
    features = torch.zeros((*shape, len(FEATURES)), dtype=torch.float64)
    rivals = torch.zeros((*shape, CANDIDATES), dtype=torch.float64)
    present, right = torch.zeros(shape, dtype=torch.bool), torch.zeros(shape, dtype=torch.bool)
    for row, example in enumerate(examples):
        n = len(example.right)
        features[row, :n] = torch.from_numpy(example.evidence.features)
        rivals[row, :n, :n] = torch.from_numpy(example.evidence.rivals)
        present[row, :n], right[row, :n] = True, torch.from_numpy(example.right)
    return features, present, right, rivals


def _negative_log_likelihood(
    strengths: torch.Tensor, present: torch.Tensor, right: torch.Tensor, rivals: torch.Tensor
) -> torch.Tensor:
    """Mean over posts of -log p(right candidate), or of -log p(none) where no candidate is right."""
    odds = torch.where(present, strengths, -50.0).exp()  # (N, C)
    contest = 1 + odds + (rivals @ odds[..., None])[..., 0]
    of_right = ((odds / contest) * right).sum(1)
    of_none = 1 / (1 + odds.sum(1))
    return -torch.where(right.any(1), of_right, of_none).clamp_min(1e-9).log().mean()


def _write(folder: Path, calibration: Calibration, data: Path, seed: int, metrics: Mapping[str, Any]) -> dict[str, Any]:
    from safetensors.numpy import save

    content = save({"full": calibration.full, "lexical": calibration.lexical})
    card = {
        "name": NAME,
        "version": VERSION,
        "encoder": calibration.encoder,
        "features": list(FEATURES),
        "weights": {k: [round(float(w), 4) for w in getattr(calibration, k)] for k in MODES},
        "data": "CheckThat! 2022 task 2A, English: fitted on train, metrics on dev",
        "seed": seed,
        "command": f"claimwatch retrain calibration --data {data.name} --seed {seed}",
        "metrics": metrics,
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(content)
    (folder / "card.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return card
