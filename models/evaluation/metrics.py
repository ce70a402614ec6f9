"""Measures of a ranking, each as trec_eval defines it, a query at a time."""

from collections.abc import Callable, Sequence, Set

from models.evaluation.qrels import Qrels
from models.evaluation.runs import Run

Metric = Callable[[Sequence[str], Set[str]], float]


def average_precision(k: int) -> Metric:
    """AP@k: precision at each relevant document of the first k, summed, over the number of all relevant ones."""

    def measure(ranking: Sequence[str], relevant: Set[str]) -> float:
        found, total = 0, 0.0
        for rank, document in enumerate(ranking[:k], 1):
            if document in relevant:
                found += 1
                total += found / rank
        return total / len(relevant)

    return measure


def reciprocal_rank(ranking: Sequence[str], relevant: Set[str]) -> float:
    """1 over the rank of the first relevant document, 0 if there is none."""
    return next((1 / rank for rank, document in enumerate(ranking, 1) if document in relevant), 0.0)


def recall(k: int) -> Metric:
    """Share of the relevant documents that stand in the first k."""
    return lambda ranking, relevant: len(relevant & set(ranking[:k])) / len(relevant)


def precision(k: int) -> Metric:
    """Relevant documents in the first k, over k even where fewer were returned."""
    return lambda ranking, relevant: len(relevant & set(ranking[:k])) / k


def per_query(run: Run, qrels: Qrels, metric: Metric) -> dict[str, float]:
    """The metric of every judged query; one that the run does not answer has 0."""
    return {
        query: metric([hit.id for hit in run.get(query, ())], relevant) for query, relevant in qrels.items() if relevant
    }


def mean(values: dict[str, float]) -> float:
    """The mean over queries, 0 of none."""
    return sum(values.values()) / len(values) if values else 0.0
