"""The five platforms behind one fixture: a server with three pages of posts, and the connector that asks it."""

from collections.abc import Callable
from dataclasses import dataclass

from connectors.protocol import CompiledQuery, Connector, ConnectorContext, Window
from domain.query import EndpointKind, all_words_query, text_query
from tests.integration.connectors import make
from tests.replay.platforms import (
    NOW,
    BlueskyServer,
    ElasticsearchServer,
    MastodonServer,
    RedditServer,
    XServer,
    said,
)  # fmt: skip
from tests.replay.server import Answer, ReplayServer, Request
from tests.unit.connectors.contract import EVER

Serve = Callable[[Callable[[Request], Answer]], ReplayServer]


@dataclass(frozen=True)
class Setup:
    server: ReplayServer
    connector: Connector
    searches: str  # what the path of a search holds

    @property
    def compiled(self) -> CompiledQuery:
        words = ("water", "banned")
        boolean = self.connector.kind is EndpointKind.BOOLEAN
        query = all_words_query(words, policy="test") if boolean else text_query(
            self.connector.kind, " ".join(words), policy="test"
        )  # fmt: skip
        return self.connector.compile(query)[0]

    @property
    def window(self) -> Window:
        return Window(EVER.since, NOW)

    def ids(self) -> list[str]:
        """Ids of the first page."""
        return [post.platform_id for post in self.connector.search(self.compiled, self.window, None).posts]


def set_up(platform: str, serve: Serve, context: ConnectorContext) -> Setup:
    posts = said(130)
    if platform == "x":
        server = serve(XServer(posts))
        return Setup(server, make.make_x(server.url, context), "search/recent")
    if platform == "reddit":
        server = serve(RedditServer(posts))
        return Setup(server, make.make_reddit(server.url, context), "/search")
    if platform == "bluesky":
        server = serve(BlueskyServer(posts))
        return Setup(server, make.make_bluesky(server.url, context), "searchPosts")
    if platform == "mastodon":
        server = serve(MastodonServer(posts))
        return Setup(server, make.make_mastodon(server.url, context), "/api/v2/search")
    server = serve(ElasticsearchServer(posts))
    return Setup(server, make.make_elasticsearch(server.url, context), "_search")


PLATFORMS = ["x", "reddit", "bluesky", "mastodon", "elasticsearch"]
