"""Mastodon by a server's full-text search (Mastodon.py): opted-in accounts, only for a user's token.

Without a token the server answers 200 and nothing; that is not permitted, and never "no posts".
"""

import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import requests
from mastodon import Mastodon
from mastodon.errors import MastodonAPIError, MastodonError, MastodonRatelimitError
from pydantic import SecretStr

from connectors.asking import ask, http_failure, no_answer, not_an_answer, retry_after, session_at
from connectors.mastodon.content import text_and_links
from connectors.options import Address, KeptDays, OptionalSecret, Options, read_options
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
from connectors.records import count, moment, pseudonym, read_records
from domain.outcome import NotPermitted, RateLimited
from domain.post import Post, Reach
from domain.query import EndpointKind, Query
from domain.text import normalise

_PAGE = 40
_LOOKED_UP = 20  # posts a request
_VERSION = "4.3.0"  # whose interface is spoken; unsaid, the client would ask the server for its own at each start
_NO_TOKEN = "full-text search needs a user's token: set access_token (read:search)"
# A plus is read as "must occur" by every version of the server; a bare word is optional to some.
_GRAMMAR = Grammar(400, disjunction=None, word_prefix="+")


class MastodonOptions(Options):
    base_url: Address
    access_token: OptionalSecret = SecretStr("")
    keep_days: KeptDays = 30  # terms differ by server
    may_train: bool = False


class _LastAnswer(threading.local):
    """Of a thread, as the server gave it: the client's errors leave out the headers, and its types make a list of
    whatever stands in the place of one."""

    def __init__(self) -> None:
        self.headers: Mapping[str, str] = {}
        self._response = requests.Response()

    def keep(self, response: requests.Response, *args: object, **kwargs: object) -> None:
        self.headers, self._response = response.headers, response

    def json(self) -> Any:
        return self._response.json()


class MastodonConnector:
    """May be shared by threads."""

    kind = EndpointKind.BOOLEAN
    limits = Limits(_PAGE, query_characters=_GRAMMAR.characters)
    prices = Prices()

    def __init__(self, context: ConnectorContext, options: MastodonOptions) -> None:
        self.name = context.name
        self.policy = Policy(options.may_train, options.keep_days, recheck_hours=24, quote_characters=280)
        self._salt, self._clock = context.salt, context.clock
        self._platform = f"mastodon/{urlsplit(options.base_url).hostname}"
        self._permitted = bool(options.access_token.get_secret_value())
        self._session = session_at(options.base_url)
        self._last = _LastAnswer()
        self._session.hooks["response"].append(self._last.keep)
        self._client = Mastodon(
            access_token=options.access_token.get_secret_value() or None, api_base_url=options.base_url,
            ratelimit_method="throw", request_timeout=20, version_check_mode="created", mastodon_version=_VERSION,
            session=self._session,
        )  # fmt: skip

    def compile(self, query: Query) -> list[CompiledQuery]:
        """The search has no OR: alternatives become queries of their own."""
        return compile_boolean(query, _GRAMMAR)

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate:
        self._search(compiled, 0, 1)
        return Estimate(None, 0)

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        """Newest first: posts after the window are passed over, and a page that reaches its beginning is the last.

        A short page is not: the server counts what it then leaves out, as posts of accounts that the user blocks.
        """
        offset, limit = int(cursor or 0), most or _PAGE
        statuses = self._search(compiled, offset, limit)
        posts, notices = read_records(statuses, lambda status: self._post(status, window))
        reached = any(_is_before(status, window.since) for status in statuses)
        following = None if reached or not statuses else str(offset + limit)
        return Page(tuple(posts), following, tuple(notices))

    def gone(self, ids: Sequence[str]) -> set[str]:
        there: set[str] = set()
        for start in range(0, len(ids), _LOOKED_UP):
            asked = list(ids[start : start + _LOOKED_UP])
            found = self._ask(lambda asked=asked: self._client.statuses(asked))
            if not isinstance(found, list) or not all(
                isinstance(status, dict) and status.get("id") for status in found
            ):
                raise SearchFailed(not_an_answer("statuses").outcome)
            there |= {str(status["id"]) for status in found}
        return set(ids) - there

    def close(self) -> None:
        self._session.close()

    def _search(self, compiled: CompiledQuery, offset: int, limit: int) -> list[Any]:
        if not self._permitted:
            raise SearchFailed(NotPermitted(_NO_TOKEN))
        answer = self._ask(
            lambda: self._client.search_v2(
                compiled.syntax, resolve=False, result_type="statuses", offset=offset or None, limit=limit
            ),
            compiled.syntax,
        )
        if not isinstance(answer, dict) or not isinstance(answer.get("statuses"), list):
            raise SearchFailed(not_an_answer("statuses").outcome)
        return list(answer["statuses"])

    def _ask(self, request: Any, syntax: str = "") -> Any:
        def answer() -> Any:
            request()
            return self._last.json()

        # The client looks into answers before it knows what they are.
        odd = (ValueError, TypeError, AttributeError)
        return ask(answer, (MastodonError, *odd), lambda exc: self._failure(exc, syntax))

    def _failure(self, exc: Exception, syntax: str) -> SearchFailed:
        now = self._clock()
        if isinstance(exc, MastodonRatelimitError):
            reset = self._client.ratelimit_reset
            until = datetime.fromtimestamp(reset, UTC) if reset else retry_after(self._last.headers, now)
            return SearchFailed(RateLimited(until or now + timedelta(minutes=5)))
        if isinstance(exc, MastodonAPIError) and len(exc.args) > 1 and isinstance(exc.args[1], int):
            said = str(exc.args[3]) if len(exc.args) > 3 and exc.args[3] else ""
            return http_failure(exc.args[1], self._last.headers, now, said=said, query=syntax)
        return no_answer(exc)

    def _post(self, status: Mapping[str, Any], window: Window) -> Post | None:
        status = status.get("reblog") or status
        created = moment(status["created_at"])
        if not window.since <= created < window.until:
            return None
        text, links = text_and_links(str(status["content"]))
        warning = normalise(str(status.get("spoiler_text") or ""))
        pictures = [
            f"[picture: {alt}]" for media in status.get("media_attachments") or () if (alt := media.get("description"))
        ]
        return Post(
            platform=self._platform, platform_id=str(status["id"]), created_at=created,
            text="\n".join(filter(None, (warning, text, *pictures))), url=status.get("url") or status.get("uri"),
            author=pseudonym(str(status["account"]["acct"]), self._salt), links=links,
            language=str(status.get("language") or "und").split("-")[0],
            reach=Reach(*(count(status.get(f"{name}_count")) for name in ("favourites", "reblogs", "replies"))),
        )  # fmt: skip


def _is_before(status: Any, since: datetime) -> bool:
    try:
        return moment(status["created_at"]) < since
    except (ValueError, KeyError, TypeError):
        return False


def build(options: Mapping[str, str], context: ConnectorContext) -> Connector:
    return MastodonConnector(context, read_options(MastodonOptions, context.name, options))
