import logging
import math
from collections import Counter

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.query import EndpointKind, Query, Term, text_query
from domain.search_index import Hit, SearchIndex
from models.retrieval.bm25 import BM25Index, FieldedBM25
from models.retrieval.statistics import TermStatistics

WORDS = st.sampled_from([f"w{i}" for i in range(30)])
TEXTS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=40)
TOLERANCE = 1e-5


def filled(texts: list[str], **settings: float) -> BM25Index:
    """Tokens are the words as they stand; ids sort as the texts do."""
    index = BM25Index(str.split, **settings)
    index.add([f"{i:04}" for i in range(len(texts))], texts)
    return index


def ranked(text: str) -> Query:
    return text_query(EndpointKind.RANKED, text, policy="test")


def peer_scores(texts: list[str], query: str, k1: float, b: float) -> list[float]:
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    peer = bm25s.BM25(method="lucene", k1=k1, b=b)
    peer.index([text.split() for text in texts], show_progress=False)
    scores: list[float] = peer.get_scores(query.split()).tolist()
    return scores


@settings(deadline=None)
@given(
    TEXTS.filter(lambda texts: any(texts)),
    st.lists(WORDS, min_size=1, max_size=8).map(" ".join),
    st.floats(0.1, 3),
    st.floats(0, 1),
)
def test_scores_equal_those_of_the_peer_library(texts: list[str], query: str, k1: float, b: float) -> None:
    expected = peer_scores(texts, query, k1, b)
    index = filled(texts, k1=k1, b=b)
    assert index.scores(query) == pytest.approx(expected, abs=TOLERANCE)
    order = sorted(range(len(texts)), key=lambda i: (-index.scores(query)[i], i))
    hits = index.search(ranked(query), len(texts))
    assert [hit.id for hit in hits] == [f"{i:04}" for i in order if expected[i] > 0]
    assert [hit.score for hit in hits] == pytest.approx(
        sorted((s for s in expected if s > 0), reverse=True), abs=TOLERANCE
    )


def test_a_score_is_that_of_the_formula() -> None:
    texts = ["a a b", "b c", "c c c c"]
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 / (2 + 1.2 * (1 - 0.6 + 0.6 * 3 / 3))
    assert filled(texts, k1=1.2, b=0.6).scores("a").tolist() == pytest.approx([expected, 0, 0], abs=1e-6)


@pytest.mark.parametrize("k", [1, 7, 60, 400, 5000])
def test_the_best_of_many_texts_are_those_of_a_full_sort(k: int) -> None:
    draw = np.random.default_rng(4)
    texts = [" ".join(f"w{i}" for i in draw.zipf(1.3, draw.integers(1, 30)) if i < 500) for _ in range(5000)]
    index = filled(texts)
    for query in ("w1 w2 w3", "w7 w80 w400", "w499"):
        scores = index.scores(query)
        order = [i for i in np.lexsort((np.arange(len(scores)), -scores)) if scores[i] > 0][:k]
        assert index.search(ranked(query), k) == [Hit(f"{i:04}", float(scores[i])) for i in order]


@pytest.mark.parametrize("threads", [1, 4])
def test_equal_scores_are_ordered_by_id_however_the_index_was_built(threads: int) -> None:
    ids = [f"post-{i}" for i in range(1000)]
    for order in (ids, ids[::-1]):
        index = BM25Index()
        index.add(order, ["the same words"] * 1000)
        ten, twenty = ([h.id for h in index.search_many(["same words"] * 5, k, threads=threads)[3]] for k in (10, 20))
        assert ten == sorted(ids)[:10]
        assert twenty == sorted(ids)[:20]


@given(TEXTS, st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=9), st.integers(0, 50))
@settings(deadline=None)
def test_many_queries_at_once_give_what_each_gives_alone(texts: list[str], queries: list[str], k: int) -> None:
    index = filled(texts)
    alone = [index.search(ranked(query), k) for query in queries]
    assert index.search_many(queries, k) == index.search_many(queries, k, threads=3) == alone


@given(TEXTS, st.sets(st.integers(0, 39)), st.lists(WORDS, max_size=5).map(" ".join))
@settings(deadline=None)
def test_removing_and_replacing_leave_what_a_new_index_would_hold(texts: list[str], gone: set[int], query: str) -> None:
    index = filled(texts)
    assert len(index.scores("w1")) == len(texts)
    index.add([f"{i:04}" for i in gone], ["old words"] * len(gone))
    index.remove([f"{i:04}" for i in gone if i % 2 or i >= len(texts)])
    kept = {i: "old words" if i in gone else text for i, text in enumerate(texts) if not (i in gone and i % 2)}
    fresh = BM25Index(str.split)
    fresh.add([f"{i:04}" for i in reversed(kept)], list(reversed(kept.values())))
    assert index.ids == fresh.ids
    assert index.scores(query).tolist() == fresh.scores(query).tolist()
    assert index.document_frequency("old") == fresh.document_frequency("old")


def test_a_term_weight_multiplies_what_the_term_is_worth() -> None:
    index = filled(["a b", "b c", "c d"])
    query = Query(
        EndpointKind.RANKED, ((Term("a", 2.0),), (Term("b", 0.5),), (Term("c", 0.0),), (Term("d", -1.0),)), "test"
    )
    expected = 2 * index.scores("a") + 0.5 * index.scores("b")
    assert [hit.score for hit in index.search(query, 9)] == pytest.approx(expected[expected > 0].tolist())
    assert index.count(query) == 2


@pytest.mark.parametrize("text", ["", "!", "the", "unheard of", "… 🙂"])
def test_a_query_that_fits_nothing_gives_nothing(text: str) -> None:
    index = BM25Index()
    assert index.search(ranked("chip"), 5) == []
    index.add(["1"], ["A chip in the sea"])
    assert index.search(ranked(text), 5) == []
    assert index.count(ranked(text)) == 0
    assert index.search_many([text, "chip"], 5)[1][0].id == "1"
    assert index.scores(text).tolist() == [0.0]


def test_texts_without_words_are_kept_and_never_found() -> None:
    index = BM25Index()
    index.add(["a", "b"], ["", "…"])
    assert len(index) == 2
    assert index.search(ranked("chip"), 5) == []


def test_a_word_of_several_tokens_is_as_frequent_as_all_of_them_together() -> None:
    index = BM25Index()
    index.add(["a", "b", "c"], ["covid 19", "covid", "19 Вакцины"])
    frequencies = [index.document_frequency(word) for word in ("covid-19", "COVID", "вакцины", "the", "unheard")]
    assert frequencies == [1, 2, 1, 0, 0]


def test_fields_count_by_their_weights() -> None:
    index = FieldedBM25((1.0, 0.5), str.split)
    index.add_fields(["a", "b"], [("chip", "sea chip"), ("sea", "")])
    lengths = {"a": 2.0, "b": 1.0}
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    norm = 1.5 * (0.25 + 0.75 * lengths["a"] / 1.5)
    assert index.scores("chip").tolist() == pytest.approx([idf * 1.5 / (1.5 + norm), 0], abs=1e-6)


@given(TEXTS, st.lists(WORDS, max_size=5).map(" ".join))
@settings(deadline=None)
def test_one_field_of_weight_one_is_plain_bm25(texts: list[str], query: str) -> None:
    fields = FieldedBM25((1.0, 1.0), str.split)
    fields.add_fields([f"{i:04}" for i in range(len(texts))], [(text, "") for text in texts])
    assert fields.scores(query).tolist() == filled(texts).scores(query).tolist()


def test_a_text_without_one_of_its_fields_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="a: 1 fields for 2 weights"):
        FieldedBM25((1.0, 1.0)).add_fields(["a"], [("claim",)])


def test_it_is_a_search_index_and_knows_how_common_words_are() -> None:
    index: SearchIndex = BM25Index()
    statistics: TermStatistics = BM25Index()
    assert (index.kind, len(index), len(statistics)) == (EndpointKind.RANKED, 0, 0)


def test_the_most_frequent_term_counts_each_of_its_places() -> None:
    counts = Counter("a b a c a".split())
    index = filled(["a b a c a", "b", "c"])
    tf, norm = counts["a"], 1.5 * (0.25 + 0.75 * 5 / (7 / 3))
    assert index.scores("a")[0] == pytest.approx(math.log(1 + 2.5 / 1.5) * tf / (tf + norm), abs=1e-6)
