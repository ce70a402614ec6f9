"""What every connector must do, as tests to inherit."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from connectors.protocol import CompiledQuery, Connector, Page, Window
from domain.post import Post
from domain.query import EndpointKind, Query, all_words_query, text_query

EVER = Window(datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
MOST_PAGES = 1000
ODD_TEXTS = [
    'Fluoride AND lead: "banned" in 3 cities OR not? (map) -- see cdc:report #water @who',
    "NOT -water OR (",
    '"""',
    "ab\0cd",
    "two\nlines\r\n\tand a tab",
    "🚰 مياه 水道水 पानी",
    "<b>&amp;</b> {{ 7*7 }} $TSLA €5 100% a*b? ~x^2 [y TO z] \\ /regex/",
    "word " * 300,
]


def query_of(kind: EndpointKind, text: str) -> Query:
    """All words of a text, as the endpoint's kind has it."""
    if kind is EndpointKind.BOOLEAN:
        return all_words_query(tuple(text.split()), policy="test")
    return text_query(kind, text, policy="test")


class ConnectorContract:
    """Inherit it as `Test…` and give the fixtures `connector`, `query`, which finds three posts or more (best on more
    than one page), and `fruitless`, which finds none."""

    @pytest.fixture
    def connector(self) -> Connector:
        raise NotImplementedError

    @pytest.fixture
    def query(self) -> Query:
        raise NotImplementedError

    @pytest.fixture
    def fruitless(self) -> Query:
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def closed_afterwards(self, connector: Connector) -> Iterator[None]:
        yield
        connector.close()

    @pytest.fixture
    def compiled(self, connector: Connector, query: Query) -> CompiledQuery:
        return connector.compile(query)[0]

    def test_pages_hold_every_post_once(self, connector: Connector, compiled: CompiledQuery) -> None:
        ids = [post.platform_id for post in all_posts(connector, compiled)]
        assert len(ids) >= 3
        assert len(ids) == len(set(ids))

    def test_no_page_is_larger_than_the_limit_and_none_but_the_last_lacks_a_cursor(
        self, connector: Connector, compiled: CompiledQuery
    ) -> None:
        pages = all_pages(connector, compiled)
        assert max(len(page.posts) for page in pages) <= connector.limits.page_size
        assert [page.cursor is None for page in pages] == [False] * (len(pages) - 1) + [True]

    def test_a_page_asked_for_again_is_the_same(self, connector: Connector, compiled: CompiledQuery) -> None:
        for page in all_pages(connector, compiled)[:-1]:
            again = [connector.search(compiled, EVER, page.cursor).posts for _ in range(2)]
            assert again[0] == again[1]

    def test_posts_are_whole(self, connector: Connector, compiled: CompiledQuery) -> None:
        for post in all_posts(connector, compiled):
            assert post.platform
            assert post.platform_id
            assert post.created_at.utcoffset() == timedelta(0)
            assert "\0" not in post.text

    def test_a_boolean_endpoint_gives_the_newest_first(self, connector: Connector, compiled: CompiledQuery) -> None:
        if connector.kind is EndpointKind.BOOLEAN:
            moments = [post.created_at for post in all_posts(connector, compiled)]
            assert moments == sorted(moments, reverse=True)

    def test_the_window_takes_in_its_beginning_and_leaves_out_its_end(
        self, connector: Connector, compiled: CompiledQuery
    ) -> None:
        posts = sorted(all_posts(connector, compiled), key=lambda post: post.created_at)
        first, last = posts[0].created_at, posts[-1].created_at
        expected = {post.platform_id for post in posts if first <= post.created_at < last}
        found = all_posts(connector, compiled, Window(first, last))
        assert {post.platform_id for post in found} >= expected  # a ranked list has room for others
        assert all(first <= post.created_at < last for post in found)

    def test_an_empty_window_holds_nothing(self, connector: Connector, compiled: CompiledQuery) -> None:
        moment = all_posts(connector, compiled)[0].created_at
        assert all_posts(connector, compiled, Window(moment, moment)) == []

    def test_no_results_are_one_empty_page(self, connector: Connector, fruitless: Query) -> None:
        for compiled in connector.compile(fruitless):
            page = connector.search(compiled, EVER, None)
            assert (page.posts, page.cursor) == ((), None)

    def test_an_estimate_is_what_the_search_then_finds(
        self, connector: Connector, compiled: CompiledQuery, fruitless: Query
    ) -> None:
        for asked in (compiled, *connector.compile(fruitless)):
            estimate = connector.estimate(asked, EVER)
            assert estimate.count in {None, len(all_posts(connector, asked))}
            assert estimate.cost is None or estimate.cost >= 0

    @pytest.mark.parametrize("text", ODD_TEXTS)
    def test_odd_text_becomes_a_query_that_can_be_sent(self, connector: Connector, text: str) -> None:
        for compiled in connector.compile(query_of(connector.kind, text)):
            assert compiled.syntax.strip()
            assert compiled.syntax.isprintable()
            assert len(compiled.syntax) <= (connector.limits.query_characters or len(compiled.syntax))
            connector.search(compiled, EVER, None)

    def test_a_compiled_query_keeps_what_it_means(self, connector: Connector, query: Query) -> None:
        assert {compiled.query.kind for compiled in connector.compile(query)} == {connector.kind}

    def test_a_query_without_terms_is_not_sent(self, connector: Connector, query: Query) -> None:
        assert connector.compile(replace(query, groups=())) == []

    def test_only_posts_that_are_not_there_are_gone(self, connector: Connector, compiled: CompiledQuery) -> None:
        ids = [post.platform_id for post in all_posts(connector, compiled)]
        assert connector.gone([*ids, "never-was"]) == {"never-was"}
        assert connector.gone([]) == set()


def all_pages(connector: Connector, compiled: CompiledQuery, window: Window = EVER) -> list[Page]:
    pages = [connector.search(compiled, window, None)]
    while cursor := pages[-1].cursor:
        pages.append(connector.search(compiled, window, cursor))
        assert len(pages) < MOST_PAGES, "the pages do not end"
    return pages


def all_posts(connector: Connector, compiled: CompiledQuery, window: Window = EVER) -> list[Post]:
    return [post for page in all_pages(connector, compiled, window) for post in page.posts]
