"""What each claim's queries are worth at an endpoint. A claim with gold texts and without a query is worth 0."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.errors import BadInput
from models.evaluation.bootstrap import Interval, paired_interval
from models.evaluation.collections import ClaimCollection
from models.evaluation.rewriting.query_files import Queries, Written
from models.rewriting.rewards.boolean import BooleanRewards
from models.rewriting.rewards.dense import DenseRewards, Encode
from models.rewriting.rewards.protocol import RewardEpisode
from models.rewriting.rewards.ranked import RankedRewards

Analyse = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Scores:
    """`claims` are all that have gold texts, in the order of the collection, whatever was asked."""

    claims: tuple[str, ...]
    metrics: tuple[str, ...]
    values: NDArray[np.float64]  # (claims, metrics)

    def of(self, metric: str) -> dict[str, float]:
        """By claim."""
        return dict(zip(self.claims, self.values[:, self.metrics.index(metric)].tolist(), strict=True))

    def mean(self, metric: str) -> float:
        return float(self.values[:, self.metrics.index(metric)].mean())

    def gain_over(self, other: "Scores", *, seed: int) -> Interval:
        """The mean gain in the first metric, and its interval by resampling the claims."""
        metric = self.metrics[0]
        return paired_interval(self.of(metric), other.of(metric), seed=seed)


def best(rows: Mapping[str, Scores]) -> str:
    """The row of the highest mean of the first metric; of equal ones the first."""
    return max(rows, key=lambda name: rows[name].mean(rows[name].metrics[0]))


def scored_claims(collection: ClaimCollection) -> tuple[str, ...]:
    """The claims that a score is made of, in its order."""
    return tuple(claim for claim in collection.claims if collection.qrels.get(claim))


def score_ranked(collection: ClaimCollection, engine: RankedRewards, analyse: Analyse, queries: Queries) -> Scores:
    """(claims, 4) as `RANK_METRICS`. `analyse` is the index's. Raises BadInput for two queries of a claim, and for
    a boolean one."""
    scores = _empty(collection, engine.metrics)
    asked = _one_each(queries)
    for gold, rows in _by_gold(collection, scores.claims, asked):
        episode = engine.open(gold)
        scores.values[rows] = episode.evaluate([analyse(asked[scores.claims[row]]) for row in rows])
    return scores


def score_dense(collection: ClaimCollection, engine: DenseRewards, encode: Encode, queries: Queries) -> Scores:
    """As `score_ranked`. `encode` is the engine's, asked for all texts at once first: it has to remember them."""
    scores = _empty(collection, engine.metrics)
    asked = _one_each(queries)
    if asked:
        encode(list(asked.values()))
    for gold, rows in _by_gold(collection, scores.claims, asked):
        episode: RewardEpisode[str] = engine.open(gold)
        scores.values[rows] = episode.evaluate([asked[scores.claims[row]] for row in rows])
    return scores


def score_boolean(collection: ClaimCollection, engine: BooleanRewards, queries: Queries) -> Scores:
    """(claims, 3): F2, recall and posts read of all queries of the claim together, which share its reads. Raises
    BadInput for a text."""
    scores = _empty(collection, engine.metrics)
    for row, claim in enumerate(scores.claims):
        if asked := queries.get(claim):
            worth = engine.open(collection.qrels[claim]).together([_groups(claim, query) for query in asked])
            scores.values[row] = worth.f2, worth.recall, worth.reads
    return scores


def _empty(collection: ClaimCollection, metrics: tuple[str, ...]) -> Scores:
    claims = scored_claims(collection)
    return Scores(claims, metrics, np.zeros((len(claims), len(metrics))))


def _one_each(queries: Queries) -> dict[str, str]:
    texts: dict[str, str] = {}
    for claim, asked in queries.items():
        if len(asked) > 1:
            raise BadInput(f"claim {claim} has several queries: a ranked or dense endpoint is asked once")
        for query in asked:
            if not isinstance(query, str):
                raise BadInput(f"claim {claim} has a boolean query: a ranked or dense endpoint is asked a text")
            texts[claim] = query
    return texts


def _groups(claim: str, query: Written) -> Sequence[Sequence[str]]:
    if isinstance(query, str):
        raise BadInput(f"claim {claim} has the text {query!r}: a boolean query is a list of OR groups")
    return query


def _by_gold(
    collection: ClaimCollection, claims: Sequence[str], asked: dict[str, str]
) -> Iterable[tuple[frozenset[str], list[int]]]:
    """The rows of the claims that were asked, those with the same gold together: FEVER's claims share passages."""
    rows: defaultdict[frozenset[str], list[int]] = defaultdict(list)
    for row, claim in enumerate(claims):
        if claim in asked:
            rows[frozenset(collection.qrels[claim])].append(row)
    return rows.items()
