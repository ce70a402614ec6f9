"""Reddit by its search (praw): submissions only, newest first, about a thousand of them a search.

Records are read as the API gives them, without the library's objects: those fetch what is missing, author by author.
"""

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import praw
import prawcore
import requests

from connectors.asking import TIMEOUT_S, http_failure, no_answer, not_an_answer, session_at
from connectors.options import Address, Options, Secret, read_options
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
from connectors.records import count, pseudonym, read_records
from domain.outcome import NotPermitted, RateLimited, Unavailable
from domain.post import Post, Reach
from domain.query import EndpointKind, Query
from domain.text import normalise
from domain.urls import links_in

_CHARACTERS = 512
_MOST_A_SEARCH = 1000
_NEARLY = 950  # a listing ends a little before its thousand
_LONGEST_WAIT_S = 10.0  # longer than this the client must not sleep in a worker
_SPANS = {"hour": 1, "day": 24, "week": 168, "month": 720, "year": 8760}  # hours
_REMOVED = ("[removed]", "[deleted]", "[ Removed by Reddit ]")
_NOBODY = "[deleted]"  # an account that is gone, whose posts must go too; an author of null is only not told
_GRAMMAR = Grammar(_CHARACTERS, conjunction=" AND ")
SUBMISSIONS_ONLY = "submissions only: Reddit's search does not reach comments"


class RedditOptions(Options):
    client_id: Secret
    client_secret: Secret
    user_agent: str = "python:claimwatch:0.1 (claim monitoring)"
    oauth_url: Address = "https://oauth.reddit.com"
    reddit_url: Address = "https://www.reddit.com"


class _Cursor(NamedTuple):
    after: str
    read: int


class RedditConnector:
    """May be shared by threads, one request at a time."""

    kind = EndpointKind.BOOLEAN
    limits = Limits(100, query_characters=_CHARACTERS)
    prices = Prices()
    policy = Policy(may_train=False, keep_days=30, recheck_hours=24, quote_characters=280, may_export_text=False)

    def __init__(self, context: ConnectorContext, options: RedditOptions) -> None:
        self.name = context.name
        self._salt, self._clock = context.salt, context.clock
        self._session = session_at(options.oauth_url)
        self._client = praw.Reddit(
            client_id=options.client_id.get_secret_value(), client_secret=options.client_secret.get_secret_value(),
            user_agent=options.user_agent, oauth_url=options.oauth_url, reddit_url=options.reddit_url,
            check_for_updates=False, timeout=int(TIMEOUT_S[1]),
            requestor_kwargs={"session": self._session},
        )  # fmt: skip
        self._client.read_only = True

    def compile(self, query: Query) -> list[CompiledQuery]:
        return compile_boolean(query, _GRAMMAR)

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate:
        """Nobody can know; whether the search would be answered is found out by one request, which is free."""
        self._get("search", self._asked(compiled, window, 1), compiled.syntax)
        return Estimate(None, 0)

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        """Newest first: posts after the window are passed over, and a page that reaches its beginning is the last."""
        place = _Cursor(*json.loads(cursor)) if cursor else _Cursor("", 0)
        asked = self._asked(compiled, window, most or self.limits.page_size)
        if place.after:
            asked["after"] = place.after
        listing = self._get("search", asked, compiled.syntax)
        things = _things(listing)
        gone = [str(thing["id"]) for thing in things if _is_removed(thing) and thing.get("id")]
        posts, notices = read_records(
            (thing for thing in things if not _is_removed(thing)), lambda thing: self._post(thing, window)
        )
        read, after = place.read + len(things), listing.get("after")
        reached = any(_is_before(thing, window.since) for thing in things)
        capped = not reached and not after and read >= _NEARLY
        why = f"Reddit gives about {_MOST_A_SEARCH:,} submissions a search, the newest ones" if capped else ""
        following = json.dumps(_Cursor(after, read)) if after and not reached else None
        first = (SUBMISSIONS_ONLY,) if cursor is None else ()
        return Page(tuple(posts), following, (*first, *notices), why, tuple(gone))

    def gone(self, ids: Sequence[str]) -> set[str]:
        """Removed, deleted or no longer known, a hundred a request."""
        there: set[str] = set()
        for start in range(0, len(ids), 100):
            names = ",".join(f"t3_{id_}" for id_ in ids[start : start + 100])
            listing = self._get("api/info", {"id": names, "raw_json": 1}, "")
            things = _things(listing)
            if not all(isinstance(thing, dict) and thing.get("id") for thing in things):
                raise SearchFailed(not_an_answer("submissions").outcome)
            there |= {str(thing["id"]) for thing in things if not _is_removed(thing)}
        return set(ids) - there

    def close(self) -> None:
        self._session.close()

    def _asked(self, compiled: CompiledQuery, window: Window, limit: int) -> dict[str, str | int]:
        return {
            "q": compiled.syntax, "sort": "new", "t": _span(window.since, self._clock()), "type": "link",
            "limit": limit, "raw_json": 1, "include_over_18": "on",
        }  # fmt: skip

    def _get(self, path: str, params: dict[str, str | int], syntax: str) -> dict[str, Any]:
        self._refuse_to_wait()
        try:
            answer = self._client.request(method="GET", path=path, params=params)
        except (prawcore.PrawcoreException, praw.exceptions.PRAWException, requests.RequestException) as exc:
            raise self._failure(exc, syntax) from None
        except (KeyError, ValueError, TypeError) as exc:  # what the client raises over headers that it does not know
            if exc.args in {(401,), (403,)}:
                raise SearchFailed(http_failure(exc.args[0], {}, self._clock()).outcome) from None
            raise SearchFailed(Unavailable(f"the answer cannot be read ({type(exc).__name__})")) from None
        listing = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(listing, dict) or not isinstance(listing.get("children"), list):
            raise SearchFailed(not_an_answer("a listing").outcome)
        return listing

    def _refuse_to_wait(self) -> None:
        """The client sleeps until its limit is reset, up to ten minutes: a worker goes on with something else."""
        core = self._client._core
        ready = core.rate_limiter.next_request_timestamp_ns if core else None
        wait = ready / 1e9 - time.monotonic() if ready else 0.0
        if wait > _LONGEST_WAIT_S:
            raise SearchFailed(RateLimited(self._clock() + timedelta(seconds=wait)))

    def _failure(self, exc: Exception, syntax: str) -> SearchFailed:
        if isinstance(exc, prawcore.exceptions.OAuthException):
            return SearchFailed(NotPermitted("the login was refused: check client_id and client_secret"))
        if isinstance(exc, prawcore.exceptions.ResponseException):
            response = exc.response
            reset = count(response.headers.get("x-ratelimit-reset"))
            if response.status_code == 429 and reset:
                return SearchFailed(RateLimited(self._clock() + timedelta(seconds=reset)))
            if response.status_code in {200, 201, 202}:
                return SearchFailed(Unavailable("the answer is no JSON"))
            return SearchFailed(
                http_failure(response.status_code, response.headers, self._clock(), query=syntax).outcome
            )
        return SearchFailed(no_answer(exc).outcome)

    def _post(self, thing: dict[str, Any], window: Window) -> Post | None:
        created = _created(thing)
        if not window.since <= created < window.until:
            return None
        text = normalise("\n\n".join(part for part in (thing.get("title"), thing.get("selftext")) if part))
        outside = () if thing.get("is_self") else (thing.get("url_overridden_by_dest") or thing.get("url"),)
        author = thing.get("author")
        return Post(
            platform="reddit", platform_id=str(thing["id"]), text=text, created_at=created,
            url=f"https://www.reddit.com{thing['permalink']}" if thing.get("permalink") else None,
            author=pseudonym(author, self._salt) if isinstance(author, str) else None,
            links=tuple(dict.fromkeys(link for link in (*outside, *links_in(text)) if link)),
            reach=Reach(likes=count(thing.get("score")), replies=count(thing.get("num_comments"))),
        )  # fmt: skip


def _things(listing: Mapping[str, Any]) -> list[Any]:
    return [child.get("data") if isinstance(child, dict) else child for child in listing["children"]]


def _is_removed(thing: Any) -> bool:
    if not isinstance(thing, dict):
        return False
    return (
        bool(thing.get("removed_by_category"))
        or thing.get("author") == _NOBODY
        or thing.get("selftext") in _REMOVED
        or thing.get("title") in _REMOVED
    )


def _created(thing: Mapping[str, Any]) -> datetime:
    try:
        return datetime.fromtimestamp(float(thing["created_utc"]), UTC)
    except (OverflowError, OSError) as exc:
        raise ValueError(f"its date cannot be: {str(thing['created_utc'])[:40]!r}") from exc


def _is_before(thing: Any, since: datetime) -> bool:
    try:
        return _created(thing) < since
    except (KeyError, TypeError, ValueError):
        return False


def _span(since: datetime, now: datetime) -> str:
    """The shortest of Reddit's time filters that reaches back to a moment."""
    hours = (now - since) / timedelta(hours=1)
    return next((name for name, reach in _SPANS.items() if hours < reach), "all")


def build(options: Mapping[str, str], context: ConnectorContext) -> Connector:
    return RedditConnector(context, read_options(RedditOptions, context.name, options))
