from collections.abc import Sequence
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from domain.query import EndpointKind, text_query
from domain.search_index import Hit, SearchIndex
from models.retrieval import knn
from models.retrieval.knn import KnnIndex

DIM = 8
CODES = st.integers(0, 20)  # few, so that equal vectors and repeated ids occur
Vectors = NDArray[np.float32]


def encode(texts: Sequence[str]) -> Vectors:
    """A vector for each text, the same for the same text; zeros for an empty one."""
    return np.array([vector_of(crc32(text.encode())) if text else np.zeros(DIM) for text in texts], dtype=np.float32)


def vector_of(code: int) -> Vectors:
    return np.random.default_rng(code).normal(size=DIM).astype(np.float32)


def filled(vectors: Sequence[Vectors]) -> KnnIndex:
    index = KnnIndex(encode)
    index.add_vectors([f"t{i}" for i in range(len(vectors))], np.array(vectors).reshape(len(vectors), DIM))
    return index


def plain_search(vectors: dict[str, Vectors], query: Vectors, k: int) -> list[str]:
    """The same by a full sort over 64-bit cosines."""

    def cosine(vector: Vectors) -> float:
        a, b = vector.astype(np.float64), query.astype(np.float64)
        return round(float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)), 6)

    return sorted(vectors, key=lambda id_: (-cosine(vectors[id_]), id_))[:k]


def test_it_is_a_search_index() -> None:
    index: SearchIndex = KnnIndex(encode)
    assert index.kind is EndpointKind.DENSE


@settings(deadline=None)
@given(st.lists(CODES, max_size=30), CODES, st.integers(0, 35))
def test_it_finds_what_a_full_sort_finds(codes: list[int], query: int, k: int) -> None:
    vectors = {f"t{i}": vector_of(code) for i, code in enumerate(codes)}
    hits = filled(list(vectors.values())).search_vectors(vector_of(query)[None], k)[0]
    assert [hit.id for hit in hits] == plain_search(vectors, vector_of(query), k)


@settings(deadline=None)
@given(st.lists(CODES, min_size=1, max_size=30), CODES, st.integers(1, 30))
def test_a_longer_list_begins_with_the_shorter(codes: list[int], query: int, k: int) -> None:
    index = filled([vector_of(code) for code in codes])
    longest = index.search_vectors(vector_of(query)[None], 100)[0]
    assert index.search_vectors(vector_of(query)[None], k)[0] == longest[:k]


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9), CODES), max_size=80))
def test_adding_and_removing_leave_what_a_dictionary_would_hold(changes: list[tuple[bool, int, int]]) -> None:
    index, expected = KnnIndex(encode), dict[str, Vectors]()
    for is_added, number, code in changes:
        id_ = f"t{number}"
        if is_added:
            index.add_vectors([id_], vector_of(code)[None])
            expected[id_] = vector_of(code)
        else:
            index.remove([id_])
            expected.pop(id_, None)
    hits = index.search_vectors(vector_of(99)[None], 100)[0]
    assert len(index) == len(expected)
    assert [hit.id for hit in hits] == plain_search(expected, vector_of(99), 100)


def test_equal_texts_come_in_the_order_of_their_ids() -> None:
    index = KnnIndex(encode)
    index.add(["c", "a", "d", "b"], ["same", "same", "other", "same"])
    hits = index.search(text_query(EndpointKind.DENSE, "same", policy="test"), 3)
    assert hits == [Hit("a", 1.0), Hit("b", 1.0), Hit("c", 1.0)]


@pytest.mark.parametrize("seed", range(8))
def test_equal_texts_tie_wherever_they_lie_and_whatever_is_asked_beside(seed: int) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(20, 384)).astype(np.float32)[generator.integers(0, 20, 200)]
    queries = generator.normal(size=(7, 384)).astype(np.float32)
    ids = np.array([f"t{i:03}" for i in range(200)])
    answers = []
    for order in (np.arange(200), generator.permutation(200)):
        index = KnnIndex(encode)
        index.add_vectors(ids[order].tolist(), vectors[order])
        answers += [index.search_vectors(queries, 200), [index.search_vectors(q[None], 200)[0] for q in queries]]
    assert all(answer == answers[0] for answer in answers)


def test_an_id_added_twice_in_one_call_has_the_later_text() -> None:
    index = KnnIndex(encode)
    index.add(["a", "a"], ["first", "second"])
    assert len(index) == 1
    assert index.search(text_query(EndpointKind.DENSE, "second", policy="test"), 1) == [Hit("a", 1.0)]


def test_a_text_without_words_is_left_out_and_takes_its_old_vector_along() -> None:
    index = KnnIndex(encode)
    index.add(["a", "b"], ["tap water", "chips"])
    index.add(["a"], [""])
    assert [hit.id for hit in index.search(text_query(EndpointKind.DENSE, "tap water", policy="test"), 9)] == ["b"]


@pytest.mark.parametrize("spoilt", [0.0, np.nan, np.inf])
def test_vectors_that_point_nowhere_are_refused_by_name_and_none_is_added(spoilt: float) -> None:
    vectors = np.random.default_rng(1).normal(size=(1000, DIM)).astype(np.float32)
    vectors[700] = spoilt
    index = KnnIndex(encode)
    with pytest.raises(ValueError, match="t700"):
        index.add_vectors([f"t{i}" for i in range(1000)], vectors)
    assert len(index) == 0


@pytest.mark.parametrize("nowhere", [0.0, np.nan, np.inf])
def test_a_query_vector_that_points_nowhere_finds_nothing_and_spares_its_neighbours(nowhere: float) -> None:
    index = filled([vector_of(1), vector_of(2)])
    none, some = index.search_vectors(np.array([np.full(DIM, nowhere), vector_of(2)], dtype=np.float32), 1)
    assert none == []
    assert [hit.id for hit in some] == ["t1"]


def test_a_query_without_words_finds_and_counts_nothing() -> None:
    index = KnnIndex(encode)
    index.add(["a"], ["tap water"])
    empty = text_query(EndpointKind.DENSE, "", policy="test")
    assert index.search(empty, 5) == []
    assert index.count(empty) == 0
    assert index.count(text_query(EndpointKind.DENSE, "water", policy="test")) == 1


def test_an_empty_index_finds_nothing() -> None:
    index = KnnIndex(encode)
    index.add([], [])
    assert index.search(text_query(EndpointKind.DENSE, "water", policy="test"), 5) == []


def test_many_queries_are_answered_as_each_alone_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    index = filled([vector_of(code) for code in range(50)])
    queries = np.array([vector_of(code) for code in range(100, 130)])
    monkeypatch.setattr(knn, "_MOST_COSINES", 170)  # three queries at a time
    together = index.search_vectors(queries, 5)
    alone = [index.search_vectors(query[None], 5)[0] for query in queries]
    assert [[hit.id for hit in hits] for hits in together] == [[hit.id for hit in hits] for hits in alone]
