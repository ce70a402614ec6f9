from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.query import EndpointKind, Query, Term, all_words_query
from domain.search_index import SearchIndex
from models.retrieval.analyser import ENDPOINT
from models.retrieval.boolean import BooleanIndex
from models.retrieval.statistics import TermStatistics

WORDS = ["vaccine", "vaccines", "chip", "covid-19", "5g", "!", "sea"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=12)
GROUPS = st.lists(st.lists(st.sampled_from(WORDS), max_size=3), max_size=3)


def boolean_query(groups: list[list[str]]) -> Query:
    return Query(EndpointKind.BOOLEAN, tuple(tuple(map(Term, words)) for words in groups), "test")


def filled(texts: list[str]) -> BooleanIndex:
    index = BooleanIndex()
    index.add([str(i) for i in range(len(texts))], texts)
    return index


def found(index: BooleanIndex, query: Query, k: int = 1000) -> list[str]:
    return [hit.id for hit in index.search(query, k)]


def platform_matches(texts: list[str], groups: list[list[str]]) -> set[int]:
    """What the simulated platform of the evaluation finds, with plain sets."""
    tokens = [set(ENDPOINT(text)) for text in texts]

    def holds_word(text: set[str], word: str) -> bool:
        parts = ENDPOINT(word)
        return bool(parts) and all(part in text for part in parts)

    every = set(range(len(texts))) if groups else set()
    return {i for i in every if all(any(holds_word(tokens[i], word) for word in group) for group in groups)}


@given(TEXTS, GROUPS)
def test_it_finds_what_the_platform_finds_newest_first(texts: list[str], groups: list[list[str]]) -> None:
    index, query = filled(texts), boolean_query(groups)
    expected = sorted(platform_matches(texts, groups), reverse=True)
    assert found(index, query) == [str(i) for i in expected]
    assert index.count(query) == len(expected)


@given(TEXTS, GROUPS, st.integers(-1, 12))
def test_a_longer_list_begins_with_the_shorter(texts: list[str], groups: list[list[str]], k: int) -> None:
    index, query = filled(texts), boolean_query(groups)
    assert found(index, query, k) == found(index, query)[: max(k, 0)]


@given(TEXTS, st.sets(st.integers(0, 11)), GROUPS)
def test_removing_is_as_never_having_added(texts: list[str], gone: set[int], groups: list[list[str]]) -> None:
    index = filled(texts)
    index.remove([str(i) for i in gone])
    never = BooleanIndex()
    never.add(*_columns([(str(i), text) for i, text in enumerate(texts) if i not in gone]))
    assert found(index, boolean_query(groups)) == found(never, boolean_query(groups))
    assert len(index) == len(never)
    assert [index.document_frequency(word) for word in WORDS] == [never.document_frequency(word) for word in WORDS]


def _columns(rows: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [id_ for id_, _ in rows], [text for _, text in rows]


def test_adding_an_id_again_replaces_its_text_and_makes_it_the_newest() -> None:
    index = filled(["chip", "chip", "sea"])
    index.add(["0", "0"], ["sea", "chip sea"])
    assert found(index, all_words_query(("chip",), policy="test")) == ["0", "1"]
    assert found(index, all_words_query(("sea",), policy="test")) == ["0", "2"]


def test_a_word_of_several_tokens_needs_all_of_them() -> None:
    index = filled(["covid 19", "covid", "19 people"])
    assert found(index, all_words_query(("covid-19",), policy="test")) == ["0"]
    assert index.document_frequency("Covid-19") == 1


def test_words_of_other_scripts_are_found() -> None:
    index = filled(["Вакцина содержит чипы", "اللقاح يحتوي", "la vacunación"])
    finds = [found(index, all_words_query((word,), policy="test")) for word in ("вакцина", "اللقاح", "vacunacion")]
    assert finds == [["0"], ["1"], ["2"]]


@pytest.mark.parametrize("groups", [[], [[]], [["!"]], [["unheard"]], [["chip"], []]])
def test_a_query_that_fits_nothing_gives_nothing(groups: list[list[str]]) -> None:
    index = filled(["chip"])
    assert found(index, boolean_query(groups)) == []
    assert index.count(boolean_query(groups)) == 0


def test_ids_and_texts_of_different_number_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        BooleanIndex().add(["a", "b"], ["one"])


def test_it_is_a_search_index_and_knows_how_common_words_are() -> None:
    index: SearchIndex = BooleanIndex()
    statistics: TermStatistics = BooleanIndex()
    assert (index.kind, len(index), len(statistics)) == (EndpointKind.BOOLEAN, 0, 0)


def test_every_pair_of_words_is_counted_as_it_is_found() -> None:
    index = filled([" ".join(pair) for pair in product(WORDS, WORDS)])
    for pair in product(WORDS, WORDS):
        query = all_words_query(pair, policy="test")
        assert index.count(query) == len(found(index, query))
