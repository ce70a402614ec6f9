"""Boolean queries in a platform's own words: whatever stands in a claim comes out as its words, and legal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.platform_query import Grammar, all_words, compile_boolean, words_of
from domain.query import EndpointKind, Query, Term, all_words_query, text_query
from tests.replay.grammars import BLUESKY, MASTODON, REDDIT, Accepts, X, fits

GRAMMARS = {
    "x": (Grammar(512 - len(X.suffix)), X), "reddit": (Grammar(512, conjunction=" AND "), REDDIT),
    "bluesky": (Grammar(300, disjunction=None), BLUESKY),
    "mastodon": (Grammar(400, disjunction=None, word_prefix="+"), MASTODON),
}  # fmt: skip
ANY = Grammar(512)


def boolean(*groups: tuple[str, ...]) -> Query:
    return Query(EndpointKind.BOOLEAN, tuple(tuple(map(Term, group)) for group in groups), "test")


def syntax(query: Query, grammar: Grammar = ANY) -> list[str]:
    return [compiled.syntax for compiled in compile_boolean(query, grammar)]


@pytest.mark.parametrize("platform", list(GRAMMARS))
@given(groups=st.lists(st.lists(st.text(), min_size=1, max_size=4), max_size=30))
def test_any_text_compiles_to_what_the_platform_accepts(platform: str, groups: list[list[str]]) -> None:
    grammar, accepts = GRAMMARS[platform]
    for compiled in compile_boolean(boolean(*map(tuple, groups)), grammar):
        accepts.parse(compiled.syntax + accepts.suffix)


@given(words=st.lists(st.from_regex(r"[a-z]{1,12}", fullmatch=True), min_size=1, max_size=8))
def test_a_query_finds_the_text_that_its_words_came_from(words: list[str]) -> None:
    (compiled,) = syntax(all_words_query(tuple(words), policy="test"))
    assert fits(Accepts(512).parse(compiled), " ".join(words))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#water", ["water"]), ("cdc:report", ["cdc", "report"]), ("$TSLA", ["TSLA"]), ("don't", ["don't"]),
        ("'quoted'", ["quoted"]), ("https://www.fc.example/a", ["fc", "example", "a"]), ("🚰", []), ("--", []),
        ("पानी", ["पानी"]), ("مياه", ["مياه"]), ("5.5%", ["5", "5"]), ("a_b", ["a", "b"]),
    ],
)  # fmt: skip
def test_a_term_becomes_its_words(text: str, expected: list[str]) -> None:
    assert words_of(text) == expected


def test_alternatives_stand_in_parentheses_where_there_is_an_or() -> None:
    assert syntax(boolean(("chip", "micro chip"), ("vaccine",))) == ['(chip OR "micro chip") vaccine']


def test_alternatives_become_queries_where_there_is_none_eight_at_most() -> None:
    no_or = Grammar(300, disjunction=None)
    assert syntax(boolean(("a", "b"), ("c",)), no_or) == ["a c", "b c"]
    assert len(syntax(boolean(("a", "b", "c"), ("d", "e", "f")), no_or)) == 8


def test_alternatives_that_are_left_out_stand_in_the_trail_of_each_query_that_stays() -> None:
    no_or, why = Grammar(300, disjunction=None), "→ without OR, a query becomes 8 at most"
    for groups, edits in (
        ([tuple("abcdefgh"), ("x",)], []),
        ([tuple("abcdefghij"), ("x",)], [f"dropped i {why}", f"dropped j {why}"]),
        ([("a", "b", "c"), ("d", "e", "f")], [f"dropped 1 combination of alternatives {why}"]),
        ([("a", "b"), tuple("cdefghijk")], [
            f"dropped b {why}", f"dropped k {why}", f"dropped 10 combinations of alternatives {why}"]),
    ):  # fmt: skip
        compiled = compile_boolean(boolean(*groups), no_or)
        assert len(compiled) == 8
        assert [[str(edit) for edit in one.query.trail] for one in compiled] == [edits] * 8
    assert [str(edit) for edit in compile_boolean(boolean(tuple("abcdefghij")), ANY)[0].query.trail] == []


def test_alternatives_that_are_the_same_words_are_one() -> None:
    assert syntax(boolean(("Chip", "#chip", "chip!"))) == ["Chip"]


def test_what_is_too_long_loses_alternatives_then_light_and_short_terms() -> None:
    query = Query(EndpointKind.BOOLEAN, (
        (Term("fluoride", 9.0), Term("fluorine", 9.0)), (Term("in", 1.0),), (Term("lindmouth", 9.0),),
        (Term("water", 1.0),),
    ), "test")  # fmt: skip
    (compiled,) = compile_boolean(query, Grammar(24))
    assert compiled.syntax == "fluoride lindmouth water"
    assert [str(edit) for edit in compiled.query.trail] == [
        "dropped fluorine → the query is too long", "dropped in → the query is too long",
    ]  # fmt: skip


def test_a_single_word_that_is_too_long_leaves_no_query() -> None:
    assert syntax(boolean(("x" * 600,))) == []


def test_a_ranked_query_has_each_word_once_in_order() -> None:
    words, trail = all_words(text_query(EndpointKind.RANKED, 'Water "banned" water AND', policy="test"), 1024)
    assert words == ["water", "banned", "AND"]
    assert 'took as words "banned" → banned' in [str(edit) for edit in trail]
