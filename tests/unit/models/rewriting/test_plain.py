from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from domain.errors import BadInput
from domain.fact_check import Claim
from domain.ids import FactCheckId
from domain.query import Arm, EndpointKind, Query, all_words_query
from models.retrieval.boolean import BooleanIndex
from models.retrieval.statistics import TermStatistics
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.plain import Plain, rewriter
from models.rewriting.policy import History, QueryResult

POSTS = {
    "1": "tap water with fluoride and lead is banned in three cities, map inside",
    "2": "the cities banned tap water",
    "3": "water water everywhere, and lead in the map",
    "4": "three cities on the map",
    "5": "my cat drinks tap water",
}
POLICIES = ["claim", "keyphrases", "rarest"]
KINDS = list(EndpointKind)
WATER = "The cities banned tap water with fluoride"


@pytest.fixture
def posts() -> BooleanIndex:
    index = BooleanIndex()
    index.add(list(POSTS), list(POSTS.values()))
    return index


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Bags of words, a place a word: texts that share words are alike."""
    places = {word: i for i, word in enumerate(sorted({w for text in texts for w in text.lower().split()}))}
    vectors = np.zeros((len(texts), len(places)), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            vectors[row, places[word]] += 1
    unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def policy(name: str, kind: EndpointKind, statistics: TermStatistics) -> Plain:
    return rewriter(name, kind=kind, statistics=statistics, encode=encode)


def claim(text: str, language: str = "en") -> Claim:
    return Claim(FactCheckId(1), text, language)


def asked(given: Plain, about: Claim, *, brings: int, carried_out: bool = True) -> list[Query]:
    """All queries of a policy, if each brings so many new posts."""
    history: History = ()
    while query := given.next(about, history):
        history += (QueryResult(query, brings, brings, carried_out=carried_out),)
        assert len(history) < 30, "does not stop"
    return [result.query for result in history]


def words_of(query: Query) -> set[str]:
    return {term.text.lower() for group in query.groups for term in group}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", POLICIES)
class TestEveryPolicy:
    def test_it_says_which_policy_and_edits_made_each_query(
        self, name: str, kind: EndpointKind, posts: BooleanIndex
    ) -> None:
        given = policy(name, kind, posts)
        for query in asked(given, claim(WATER), brings=0):
            assert (query.kind, query.policy, query.arm) == (kind, given.name, Arm.PLAIN)
            assert given.name.startswith(name + "@")
            assert query.trail

    def test_it_asks_no_query_twice_and_stops(self, name: str, kind: EndpointKind, posts: BooleanIndex) -> None:
        queries = [str(query) for query in asked(policy(name, kind, posts), claim(WATER), brings=0)]
        assert len(queries) == len(set(queries)) > 0

    def test_the_same_history_gives_the_same_query(self, name: str, kind: EndpointKind, posts: BooleanIndex) -> None:
        runs = [asked(policy(name, kind, posts), claim(WATER), brings=1) for _ in range(2)]
        assert runs[0] == runs[1]

    @pytest.mark.parametrize("text", ["", "   ", "🚰🚰🚰", "not the of", "https://fc.example/a/42", "…!?"])
    def test_a_claim_without_content_stops_at_once(
        self, text: str, name: str, kind: EndpointKind, posts: BooleanIndex
    ) -> None:
        assert policy(name, kind, posts).next(claim(text), ()) is None

    def test_a_claim_of_one_word_is_asked(self, name: str, kind: EndpointKind, posts: BooleanIndex) -> None:
        query = policy(name, kind, posts).next(claim("fluoride"), ())
        assert query is not None
        assert str(query) == "fluoride"

    def test_a_claim_of_500_words_is_asked(self, name: str, kind: EndpointKind, posts: BooleanIndex) -> None:
        text = " ".join(f"word{i}" for i in range(499)) + " water"
        for query in asked(policy(name, kind, posts), claim(text), brings=0):
            assert words_of(query)

    def test_emoji_and_marks_around_words_are_no_matter(
        self, name: str, kind: EndpointKind, posts: BooleanIndex
    ) -> None:
        query = policy(name, kind, posts).next(claim("🚰 fluoride!! 🚰 …"), ())
        assert query is not None
        assert {word.strip("!") for text in words_of(query) for word in text.split()} - {"🚰", "…"} == {"fluoride"}

    @pytest.mark.parametrize(
        ("text", "language"), [("水道水は禁止", "ja"), ("自来水被禁止", "zh"), ("ماء الصنبور ممنوع", "ar"), ("eau", "")]
    )
    def test_no_language_stops_a_claim_with_the_frequencies_of_the_daemon(
        self, text: str, language: str, name: str, kind: EndpointKind
    ) -> None:
        assert policy(name, kind, WordFrequency(language)).next(claim(text, language), ()) is not None

    def test_a_claim_in_another_language_is_asked(self, name: str, kind: EndpointKind, posts: BooleanIndex) -> None:
        query = policy(name, kind, posts).next(claim("El agua del grifo no está prohibida", "es"), ())
        assert query is not None
        assert {"agua", "grifo", "prohibida"} & words_of(query)


@pytest.mark.parametrize("name", ["keyphrases", "rarest"])
class TestBooleanQueries:
    def test_function_words_and_negations_are_no_terms(self, name: str, posts: BooleanIndex) -> None:
        text = "The tap water is not banned and the cities don't have a map of it"
        for query in asked(policy(name, EndpointKind.BOOLEAN, posts), claim(text), brings=0):
            assert not words_of(query) & {"the", "is", "not", "and", "don't", "don", "a", "of", "it", "have"}

    def test_words_that_occur_nowhere_are_left_out_and_said_so(self, name: str, posts: BooleanIndex) -> None:
        queries = asked(policy(name, EndpointKind.BOOLEAN, posts), claim("zeppelin tap water banned cities"), brings=0)
        assert all("zeppelin" not in words_of(query) for query in queries)
        assert any("leave out zeppelin → occurs nowhere" in map(str, query.trail) for query in queries)

    def test_they_are_taken_where_nothing_else_is_left(self, name: str, posts: BooleanIndex) -> None:
        query = policy(name, EndpointKind.BOOLEAN, posts).next(claim("zeppelin on atlantis"), ())
        assert query is not None
        assert words_of(query) == {"zeppelin", "atlantis"}

    def test_wider_queries_follow_where_few_posts_were_found(self, name: str, posts: BooleanIndex) -> None:
        given = policy(name, EndpointKind.BOOLEAN, posts)
        narrow, wide = asked(given, claim(WATER), brings=100), asked(given, claim(WATER), brings=0)
        assert wide[: len(narrow)] == narrow
        added = wide[len(narrow) :]
        assert added
        assert max(len(query.groups) for query in added) < max(len(query.groups) for query in narrow)

    @pytest.mark.parametrize(("found", "is_wider"), [(19, True), (20, False)])
    def test_twenty_posts_together_are_enough(self, name: str, posts: BooleanIndex, found: int, is_wider: bool) -> None:
        given = policy(name, EndpointKind.BOOLEAN, posts)
        narrow = asked(given, claim(WATER), brings=100)
        history = (QueryResult(narrow[0], found, found), *(QueryResult(query, 0, 0) for query in narrow[1:]))
        assert (given.next(claim(WATER), history) is not None) == is_wider

    def test_no_wider_query_follows_where_a_search_was_not_carried_out(self, name: str, posts: BooleanIndex) -> None:
        given = policy(name, EndpointKind.BOOLEAN, posts)
        failed = asked(given, claim(WATER), brings=0, carried_out=False)
        assert failed == asked(given, claim(WATER), brings=100)


def test_rarest_asks_the_triples_of_the_four_rarest_words_the_rarest_first(posts: BooleanIndex) -> None:
    text = "map of cities with lead, fluoride, water"  # in 3, 3, 2, 1 and 4 posts
    queries = asked(policy("rarest", EndpointKind.BOOLEAN, posts), claim(text), brings=100)
    assert [str(query) for query in queries] == [
        "fluoride AND lead AND map",
        "fluoride AND lead AND cities",
        "fluoride AND map AND cities",
        "lead AND map AND cities",
    ]
    assert [str(edit) for edit in queries[0].trail] == [
        "keep the rarest words → fluoride, lead, map, cities",
        "leave out cities",
    ]


def test_rarest_asks_the_pairs_where_the_triples_brought_nothing(posts: BooleanIndex) -> None:
    queries = asked(policy("rarest", EndpointKind.BOOLEAN, posts), claim("fluoride map lead"), brings=0)
    assert [str(query) for query in queries] == [
        "fluoride AND lead AND map",
        "fluoride AND lead",
        "fluoride AND map",
        "lead AND map",
    ]


@pytest.mark.parametrize(("text", "query"), [("fluoride map", "fluoride AND map"), ("the fluoride", "fluoride")])
def test_rarest_asks_all_words_of_a_short_claim_once(posts: BooleanIndex, text: str, query: str) -> None:
    assert [str(q) for q in asked(policy("rarest", EndpointKind.BOOLEAN, posts), claim(text), brings=0)] == [query]


def test_a_query_that_a_person_pinned_is_not_asked_again(posts: BooleanIndex) -> None:
    pinned = all_words_query(("fluoride", "map"), policy="pinned")
    given = policy("rarest", EndpointKind.BOOLEAN, posts)
    assert given.next(claim("fluoride map"), (QueryResult(pinned, 3, 3),)) is None


@pytest.mark.parametrize("kind", [EndpointKind.RANKED, EndpointKind.DENSE])
def test_rarest_sends_a_text_of_the_rarest_words_in_the_order_of_the_claim(
    posts: BooleanIndex, kind: EndpointKind
) -> None:
    text = "water water map cities tap banned fluoride lead three cat drinks inside everywhere"
    (query,) = asked(policy("rarest", kind, posts), claim(text), brings=100)
    assert query.text == "banned fluoride lead three cat drinks inside everywhere"


@pytest.mark.parametrize("kind", [EndpointKind.RANKED, EndpointKind.DENSE])
def test_the_claim_is_sent_as_it_is(posts: BooleanIndex, kind: EndpointKind) -> None:
    (query,) = asked(policy("claim", kind, posts), claim(WATER), brings=0)
    assert query.text == WATER


def test_the_claim_as_a_boolean_query_holds_its_every_word(posts: BooleanIndex) -> None:
    (query,) = asked(policy("claim", EndpointKind.BOOLEAN, posts), claim("Lead AND water, not wine"), brings=0)
    assert [group[0].text for group in query.groups] == ["Lead", "AND", "water", "not", "wine"]


def test_key_phrases_neither_begin_nor_end_with_a_function_word_and_differ(posts: BooleanIndex) -> None:
    (query,) = asked(
        policy("keyphrases", EndpointKind.DENSE, posts), claim("The bank of cities banned the water"), brings=0
    )
    phrases = [edit.word for edit in query.trail]
    assert query.text == " ".join(phrases)
    assert len(phrases) == len(set(phrases)) == 3
    for phrase in phrases:
        assert not {phrase.split()[0].lower(), phrase.split()[-1].lower()} & {"the", "of"}


def test_an_unknown_policy_is_refused_with_the_names_there_are(posts: BooleanIndex) -> None:
    with pytest.raises(BadInput, match="'oracle': choose from learned, claim, keyphrases, rarest"):
        policy("oracle", EndpointKind.RANKED, posts)
