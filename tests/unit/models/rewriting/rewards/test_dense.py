from collections.abc import Sequence
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from domain.query import EndpointKind, text_query
from models.evaluation.metrics import average_precision, recall, reciprocal_rank
from models.retrieval.knn import KnnIndex
from models.rewriting.rewards.dense import DenseRewards, RecentVectors
from models.rewriting.rewards.protocol import RewardEngine

TEXTS = st.integers(0, 8).map(lambda number: f"t{number}" if number else "")  # few, so that vectors tie


class CountingEncoder:
    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        return np.array([vector_of(text) for text in texts], dtype=np.float32)


def vector_of(text: str) -> NDArray[np.float32]:
    """The same for the same text; zeros for an empty one."""
    drawn = np.random.default_rng(crc32(text.encode())).normal(size=4)
    return (drawn if text else np.zeros(4)).astype(np.float32)


def engine_of(texts: Sequence[str]) -> DenseRewards:
    ids = [f"d{number:02}" for number in range(len(texts))]
    return DenseRewards(CountingEncoder(), ids, CountingEncoder()(texts).reshape(len(texts), 4))


def test_it_is_a_reward_engine() -> None:
    engine: RewardEngine[str] = engine_of(["a"])
    assert engine.metrics == ("ap@50", "recall@50", "rr@50", "ndcg@10")


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=70), st.lists(TEXTS, max_size=6), st.sets(st.integers(0, 75), min_size=1))
def test_it_gives_what_a_full_search_gives(texts: list[str], queries: list[str], gold: set[int]) -> None:
    ids = [f"d{number:02}" for number in range(len(texts))]
    golds = {f"d{number:02}" for number in gold}
    index = KnnIndex(CountingEncoder())
    index.add(ids, texts)
    found = engine_of(texts).open(golds).evaluate(queries)
    for query, worth in zip(queries, found, strict=True):
        hits = [hit.id for hit in index.search(text_query(EndpointKind.DENSE, query, policy=""), 50)]
        measures = (average_precision(50), recall(50), reciprocal_rank)
        assert worth[:3].tolist() == [measure(hits, golds) for measure in measures]


def test_a_text_is_embedded_once() -> None:
    encoder = CountingEncoder()
    remembered = RecentVectors(encoder)
    first = remembered(["a", "b", "a"])
    second = remembered(["b", "c"])
    assert encoder.asked == [["a", "b"], ["c"]]
    assert (first[1] == second[0]).all()
    assert (first == np.array([vector_of("a"), vector_of("b"), vector_of("a")])).all()


def test_what_was_asked_for_longest_ago_is_forgotten_first() -> None:
    encoder = CountingEncoder()
    remembered = RecentVectors(encoder, most_bytes=2 * 217)  # two texts of one letter
    for text in "abacab":
        remembered([text])
    assert [text for [text] in encoder.asked] == ["a", "b", "c", "b"]


def test_a_claim_without_gold_has_no_reward() -> None:
    with pytest.raises(ValueError, match="without gold"):
        engine_of(["a"]).open(set())
