import random

import ir_measures
import pytest
from ir_measures import AP, RR, P, R

from domain.search_index import Hit
from models.evaluation.metrics import average_precision, mean, per_query, precision, recall, reciprocal_rank


def a_run_and_its_qrels(seed: int) -> tuple[dict[str, list[Hit]], dict[str, set[str]]]:
    rng = random.Random(seed)
    documents = [f"d{n}" for n in range(40)]
    qrels = {f"q{n}": set(rng.sample(documents, rng.randint(1, 8))) for n in range(30)}
    run = {
        query: [Hit(d, 100.0 - n) for n, d in enumerate(rng.sample(documents, rng.randint(0, 30)))] for query in qrels
    }
    return run, qrels


@pytest.mark.parametrize(
    ("peer", "ours"),
    [
        (AP @ 1, average_precision(1)),
        (AP @ 5, average_precision(5)),
        (RR, reciprocal_rank),
        (R @ 10, recall(10)),
        (P @ 5, precision(5)),
    ],
)
def test_a_metric_equals_the_peer_library(peer: ir_measures.Measure, ours: object) -> None:
    run, qrels = a_run_and_its_qrels(seed=3)
    expected = ir_measures.calc_aggregate(
        [peer],
        [ir_measures.Qrel(q, d, 1) for q, docs in qrels.items() for d in docs],
        [ir_measures.ScoredDoc(q, hit.id, hit.score) for q, hits in run.items() for hit in hits],
    )
    assert mean(per_query(run, qrels, ours)) == pytest.approx(expected[peer], abs=1e-12)  # type: ignore[arg-type]


def test_a_query_without_an_answer_counts_as_zero() -> None:
    assert per_query({}, {"q": {"d"}}, reciprocal_rank) == {"q": 0.0}


def test_a_query_without_relevant_documents_is_not_measured() -> None:
    assert per_query({"q": [Hit("d", 1.0)]}, {"q": set()}, reciprocal_rank) == {}


def test_the_mean_of_no_query_is_zero() -> None:
    assert mean({}) == 0.0
