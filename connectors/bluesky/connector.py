"""Bluesky by its search (atproto): the second version where the server has it, the first elsewhere.

Answers are taken as the server gives them and read post by post: the library's models refuse a whole page for one odd
embed.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Self

import httpx
from atproto_client import models
from atproto_client.exceptions import AtProtocolError, RequestErrorBase
from pydantic import SecretStr, model_validator

from connectors.asking import ask, http_failure, no_answer, not_an_answer
from connectors.bluesky.login import Login
from connectors.bluesky.posts import post_of_view
from connectors.options import Address, OptionalSecret, Options, read_options
from connectors.platform_query import Grammar, compile_boolean
from connectors.protocol import (
    CompiledQuery,
    Connector,
    ConnectorContext,
    Estimate,
    Limits,
    Page,
    Policy,
    Prices,
    SearchFailed,
    Window,
)  # fmt: skip
from connectors.records import count, read_records
from domain.outcome import Unavailable
from domain.post import Post
from domain.query import EndpointKind, Query

_V1, _V2 = "app.bsky.feed.searchPosts", "app.bsky.feed.searchPostsV2"
_LOOKED_UP = 25  # posts a request
_ONE_PAGE = "search without login gives one page only"
_GRAMMAR = Grammar(300, disjunction=None)
POLICY = Policy(may_train=True, keep_days=90, recheck_hours=48, quote_characters=None)


class BlueskyOptions(Options):
    identifier: str = ""  # handle; without a login the search gives one page
    app_password: OptionalSecret = SecretStr("")
    base_url: Address = "https://bsky.social"

    @model_validator(mode="after")
    def _whole_login(self) -> Self:
        if bool(self.identifier.strip()) != bool(self.app_password.get_secret_value()):
            raise ValueError("a login is both identifier and app_password, or neither is given")
        return self


class BlueskyConnector:
    """May be shared by threads."""

    kind = EndpointKind.BOOLEAN
    limits = Limits(100, query_characters=_GRAMMAR.characters)
    prices = Prices()
    policy = POLICY

    def __init__(self, context: ConnectorContext, options: BlueskyOptions) -> None:
        self.name = context.name
        self._salt, self._clock = context.salt, context.clock
        self._login = Login(context, options.base_url, options.identifier, options.app_password)
        self._has_v2 = True

    def compile(self, query: Query) -> list[CompiledQuery]:
        """The search has no OR: alternatives become queries of their own."""
        return compile_boolean(query, _GRAMMAR)

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate:
        """Free, where the server says how many posts there are."""
        return Estimate(count(self._search(compiled, window, None, 1).get("hitsTotal")), 0)

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        if cursor and not self._login.has_account:  # of a search that was begun with a login
            return Page((), incomplete=_ONE_PAGE)
        answer = self._search(compiled, window, cursor, most or self.limits.page_size)
        if not isinstance(answer.get("posts"), list):
            raise SearchFailed(not_an_answer("posts").outcome)
        posts, notices = read_records(answer["posts"], lambda view: self._read(view, window))
        following = answer.get("cursor")
        if following and not self._login.has_account:
            return Page(tuple(posts), notices=tuple(notices), incomplete=_ONE_PAGE)
        return Page(tuple(posts), following if isinstance(following, str) else None, tuple(notices))

    def gone(self, ids: Sequence[str]) -> set[str]:
        there: set[str] = set()
        for start in range(0, len(ids), _LOOKED_UP):
            params = models.AppBskyFeedGetPosts.Params.model_construct(uris=list(ids[start : start + _LOOKED_UP]))
            views = self._ask("app.bsky.feed.getPosts", params, "").get("posts")
            if not isinstance(views, list) or not all(isinstance(view, dict) and view.get("uri") for view in views):
                raise SearchFailed(not_an_answer("posts").outcome)
            there |= {str(view["uri"]) for view in views}
        return set(ids) - there

    def close(self) -> None:
        self._login.close()

    def _read(self, view: Mapping[str, Any], window: Window) -> Post | None:
        post = post_of_view(view, self._salt)
        return post if window.since <= post.created_at < window.until else None

    def _search(self, compiled: CompiledQuery, window: Window, cursor: str | None, limit: int) -> dict[str, Any]:
        since, until = _milliseconds(window.since), _milliseconds(window.until)
        if self._has_v2:
            second = models.AppBskyFeedSearchPostsV2.Params(
                query=compiled.syntax,
                since=since,
                until=until,
                sort="recent",
                limit=limit,
                cursor=cursor,
                all_time=True,
            )
            try:
                return self._ask(_V2, second, compiled.syntax)
            except _NotServed:
                self._has_v2 = False
        first = models.AppBskyFeedSearchPosts.Params(
            q=compiled.syntax, since=since, until=until, sort="latest", limit=limit, cursor=cursor
        )
        return self._ask(_V1, first, compiled.syntax)

    def _ask(self, method: str, params: Any, syntax: str) -> dict[str, Any]:
        client = self._login.client()
        try:
            return self._answer(client, method, params, syntax)
        except _Expired:
            return self._answer(self._login.renewed(), method, params, syntax)

    def _answer(self, client: Any, method: str, params: Any, syntax: str) -> dict[str, Any]:
        def request() -> Any:
            return client.invoke_query(method, params=params, output_encoding="application/json").content

        def failure(exc: Exception) -> SearchFailed:
            return self._failure(exc, syntax)

        content = ask(request, (AtProtocolError, httpx.HTTPError, ValueError), failure)
        if not isinstance(content, dict):
            raise SearchFailed(Unavailable("the answer is no JSON object"))
        return content

    def _failure(self, exc: Exception, syntax: str) -> SearchFailed:
        response = exc.response if isinstance(exc, RequestErrorBase) else None
        if response is None:
            return no_answer(exc)
        name, said = _error(response.content)
        if response.status_code in {404, 501} or name in {"MethodNotImplemented", "XRPCNotSupported"}:
            return _NotServed(Unavailable(f"the server has no such search ({name or response.status_code})"))
        if name == "ExpiredToken" and self._login.has_account:
            return _Expired(Unavailable("the session has expired"))
        if response.status_code == 403 and not name:  # not the service, but what stands before it
            return SearchFailed(Unavailable("edge blocked this host"))
        return http_failure(response.status_code, response.headers, self._clock(), said=said or name, query=syntax)


class _NotServed(SearchFailed):
    """The server does not know the method."""


class _Expired(SearchFailed):
    """The session must be renewed."""


def _error(content: object) -> tuple[str, str]:
    """Name and message of an XRPC error; empty if the body is none."""
    if hasattr(content, "error"):
        return str(content.error or ""), str(getattr(content, "message", "") or "")
    try:
        said = json.loads(content) if isinstance(content, bytes | str) else content
    except ValueError:
        return "", ""
    return (str(said.get("error", "")), str(said.get("message", ""))) if isinstance(said, dict) else ("", "")


def _milliseconds(value: datetime) -> str:
    """RFC 3339 with Z; bare dates are refused by some servers."""
    return f"{value.astimezone(UTC).isoformat(timespec='milliseconds')}".replace("+00:00", "Z")


def build(options: Mapping[str, str], context: ConnectorContext) -> Connector:
    return BlueskyConnector(context, read_options(BlueskyOptions, context.name, options))
