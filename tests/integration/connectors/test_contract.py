from collections.abc import Callable

import pytest

from connectors.protocol import CompiledQuery, Connector, ConnectorContext
from domain.query import Query, all_words_query, text_query
from tests.integration.connectors import make
from tests.replay.platforms import (
    BlueskyServer,
    ElasticsearchServer,
    MastodonServer,
    RedditServer,
    XServer,
    said,
)  # fmt: skip
from tests.replay.server import Answer, ReplayServer, Request
from tests.unit.connectors.contract import ConnectorContract

Serve = Callable[[Callable[[Request], Answer]], ReplayServer]


class ReplayedContract(ConnectorContract):
    @pytest.fixture
    def query(self) -> Query:
        return all_words_query(("water", "banned"), policy="test")

    @pytest.fixture
    def fruitless(self) -> Query:
        return all_words_query(("zebra",), policy="test")


class TestX(ReplayedContract):
    @pytest.fixture
    def connector(self, serve: Serve, context: ConnectorContext) -> Connector:
        platform = XServer(said(130))
        server = serve(platform)
        platform.base_url = server.url
        return make.make_x(server.url, context)


class TestReddit(ReplayedContract):
    @pytest.fixture
    def connector(self, serve: Serve, context: ConnectorContext) -> Connector:
        return make.make_reddit(serve(RedditServer(said(130))).url, context)


class TestBluesky(ReplayedContract):
    @pytest.fixture
    def connector(self, serve: Serve, context: ConnectorContext) -> Connector:
        return make.make_bluesky(serve(BlueskyServer(said(130))).url, context)


class TestBlueskyFirstVersion(ReplayedContract):
    @pytest.fixture
    def connector(self, serve: Serve, context: ConnectorContext) -> Connector:
        return make.make_bluesky(serve(BlueskyServer(said(130), has_v2=False)).url, context)


class TestMastodon(ReplayedContract):
    @pytest.fixture
    def connector(self, serve: Serve, context: ConnectorContext) -> Connector:
        return make.make_mastodon(serve(MastodonServer(said(130))).url, context)


class TestElasticsearch(ConnectorContract):
    @pytest.fixture
    def connector(self, serve: Serve, context: ConnectorContext) -> Connector:
        return make.make_elasticsearch(serve(ElasticsearchServer(said(130))).url, context)

    @pytest.fixture
    def query(self, connector: Connector) -> Query:
        return text_query(connector.kind, "water banned", policy="test")

    @pytest.fixture
    def fruitless(self, connector: Connector) -> Query:
        return text_query(connector.kind, "zebra", policy="test")

    @pytest.fixture
    def compiled(self, connector: Connector, query: Query) -> CompiledQuery:
        return connector.compile(query)[0]
