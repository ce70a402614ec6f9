"""How well each ranker finds a post's fact-check, on CheckThat! 2022 task 2A, English."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from domain.search_index import Hit
from models.backbone import Encoder
from models.evaluation.bootstrap import Interval, mean_interval, paired_interval
from models.evaluation.collections import PostCollection, load_checkthat
from models.evaluation.metrics import average_precision, per_query, reciprocal_rank
from models.evaluation.runs import Run, ranked, write_run
from models.evaluation.vectors import cached_vectors
from models.ranking.encoder import PostEncoder
from models.ranking.fact_check_text import embedding_text
from models.ranking.protocol import Ranker
from models.registry import RANKERS, Collection

DEPTH = 100  # fact-checks of a post in a run file
BASELINE = "bm25"
_METRICS = {"map1": average_precision(1), "map5": average_precision(5), "mrr": reciprocal_rank}


@dataclass(frozen=True, slots=True)
class Row:
    """A ranker's figures, each with its 95 % interval, and what it gains over BM25 in MAP@5 on the same posts."""

    name: str
    map1: Interval
    map5: Interval
    mrr: Interval
    gain: Interval


def evaluate_matching(
    data: Path, split: str, out: Path, *, encoder: PostEncoder, cache: Path | None = None, seed: int = 0
) -> list[Row]:
    """Rank the split's posts with every registered ranker, write `checkthat2022.<split>.<row>.trec` into `out`, and
    measure; a split without labels gets its run files and no rows."""
    posts = load_checkthat(data, split)
    runs = make_runs(posts, encoder, cache)
    for name, run in runs.items():
        write_run(out / f"checkthat2022.{split}.{name}.trec", run, name=name)
    return measure(runs, posts, seed) if posts.qrels else []


def make_runs(
    posts: PostCollection, encoder: PostEncoder, cache: Path | None, *, names: Iterable[str] = tuple(RANKERS)
) -> dict[str, Run]:
    """What each ranker answers, by its name."""
    collection = embedded(posts, encoder, cache)
    return {name: rank_posts(RANKERS[name](collection), posts) for name in names}


def embedded(posts: PostCollection, encoder: PostEncoder, cache: Path | None) -> Collection:
    """The fact-checks with their embeddings, kept in `cache` between runs; by the packaged encoder too where the
    encoder is the multilingual one."""
    facts = posts.fact_checks
    claims = [embedding_text(f.claim, f.title) for f in facts]
    vectors = cached_vectors(claims, encoder, cache)
    titles = cached_vectors([f.title or f.claim for f in facts], encoder, cache)
    companion = Encoder.load() if encoder.languages is None else None
    companions = cached_vectors(claims, companion, cache) if companion else None
    return Collection(facts, vectors, encoder, titles, companion, companions)


def measure(runs: dict[str, Run], posts: PostCollection, seed: int) -> list[Row]:
    """A row for each run; the baseline's gain over itself is 0."""
    base = per_query(runs[BASELINE], posts.qrels, _METRICS["map5"])
    rows = []
    for name, run in runs.items():
        values = {metric: per_query(run, posts.qrels, measure) for metric, measure in _METRICS.items()}
        intervals = {metric: mean_interval(of_queries, seed=seed) for metric, of_queries in values.items()}
        rows.append(Row(name, **intervals, gain=paired_interval(values["map5"], base, seed=seed)))
    return rows


def rank_posts(ranker: Ranker, posts: PostCollection) -> dict[str, list[Hit]]:
    """The `DEPTH` best of each post."""
    facts = posts.fact_checks
    scores = ranker.score(list(posts.queries.values()), facts)  # (posts, fact-checks)
    return {query: _best([f.key for f in facts], row) for query, row in zip(posts.queries, scores, strict=True)}


def _best(keys: list[str], scores: np.ndarray[tuple[int], np.dtype[np.float32]]) -> list[Hit]:
    """The DEPTH best, all that tie with the last of them taken into the ordering by id."""
    threshold = np.partition(scores, -DEPTH)[-DEPTH] if len(keys) > DEPTH else -np.inf
    near = np.flatnonzero(scores >= threshold)
    return ranked((keys[i], float(scores[i])) for i in near)[:DEPTH]
