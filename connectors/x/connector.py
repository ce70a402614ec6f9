"""X by its search API v2 (tweepy): recent search of seven days, or the archive where the account may.

Prices, limits and rules are those of the public pages of November 2026, and options. A retweet is a share of its
original, never a second text; users are never asked for.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import requests
import tweepy
from pydantic import Field

from connectors.asking import ask, http_failure, no_answer, not_an_answer, session_at
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
from connectors.records import count, moment, pseudonym, read_records
from connectors.x.compliance import ComplianceJobs
from domain.outcome import BudgetUsedUp, RateLimited
from domain.post import Post, Reach
from domain.query import EndpointKind, Query
from domain.text import normalise

_LIBRARY_HOST = "https://api.twitter.com"
_NO_RETWEETS = " -is:retweet"
_RECENT = timedelta(days=7)
_MARGIN = timedelta(minutes=1)  # between our clock and theirs, at the far end of the seven days
_SKEW = _MARGIN / 2  # a start that is nearer than this to the far end is moved up when a search goes on
_NEWEST = timedelta(seconds=15)  # the API refuses an end nearer than 10 s; ours is rounded up to a whole second
_FIELDS = ["author_id", "created_at", "entities", "lang", "note_tweet", "public_metrics", "referenced_tweets"]
_USED_UP = "usage-capped"
_SMALLEST_PAGE = 10
_DEAREST = 1_000_000_000  # micro-dollars: a price beyond $1,000 is a slip of the unit
_TOO_OLD = "recent search reaches back seven days, and the rest of this one is older"


class XOptions(Options):
    bearer_token: Secret
    archive: bool = False  # full-archive search: longer queries, no limit of seven days
    retweets: bool = False  # each costs as much as a post
    post_price: int = Field(5_000, ge=0, le=_DEAREST)  # micro-dollars
    count_price: int = Field(5_000, ge=0, le=_DEAREST)
    billing_day: int = Field(1, ge=1, le=28)  # of the month, when the cap begins anew
    base_url: Address = "https://api.x.com"


class _Cursor(NamedTuple):
    """The window as it was first asked for, since the API wants the same one for each page, and its token."""

    start: str
    end: str
    token: str | None


class XConnector:
    """May be shared by threads."""

    kind = EndpointKind.BOOLEAN
    policy = Policy(may_train=False, keep_days=30, recheck_hours=24, quote_characters=140, may_export_text=False)

    def __init__(self, context: ConnectorContext, options: XOptions) -> None:
        self.name = context.name
        self.prices = Prices(post=options.post_price, estimate=options.count_price)
        smallest = 2 * _SMALLEST_PAGE if options.retweets else _SMALLEST_PAGE
        self.limits = Limits(500 if options.archive else 100, smallest, 1024 if options.archive else 512)
        self._salt, self._clock, self._options = context.salt, context.clock, options
        # The library's own waiting recurses without end where no header says how long.
        self._client = tweepy.Client(
            options.bearer_token.get_secret_value(), return_type=dict, wait_on_rate_limit=False
        )
        self._client.session.close()
        self._client.session = session_at(options.base_url, built_in=_LIBRARY_HOST)
        open_job = context.folder / f"x-{context.name}.compliance"
        self._compliance = ComplianceJobs(self._client, self._ask, open_job, context.clock)

    def compile(self, query: Query) -> list[CompiledQuery]:
        """One query: X has OR, and it is weaker than AND, so groups stand in parentheses."""
        suffix = "" if self._options.retweets else _NO_RETWEETS
        grammar = Grammar((self.limits.query_characters or 512) - len(suffix))
        return [CompiledQuery(one.syntax + suffix, one.query) for one in compile_boolean(query, grammar)]

    def estimate(self, compiled: CompiledQuery, window: Window) -> Estimate:
        """The number of posts by a count request, which has its own price."""
        cursor = self._first_cursor(window)
        if cursor is None:
            return Estimate(0, 0)
        ask_for = self._client.get_all_tweets_count if self._options.archive else self._client.get_recent_tweets_count
        answer = self._ask(
            lambda: ask_for(compiled.syntax, start_time=cursor.start, end_time=cursor.end, granularity="day"), compiled
        )
        if not isinstance(answer.get("meta"), dict):
            raise SearchFailed(not_an_answer("meta").outcome)
        total = count(answer["meta"].get("total_tweet_count"))
        return Estimate(total, None if total is None else total * self.prices.post)

    def search(self, compiled: CompiledQuery, window: Window, cursor: str | None, *, most: int | None = None) -> Page:
        place = self._resumed(_Cursor(*json.loads(cursor))) if cursor else self._first_cursor(window)
        notices = [] if cursor else self._not_covered(window)
        if place is None:
            return Page((), notices=tuple(notices), incomplete=_TOO_OLD if cursor else "")
        ask_for = self._client.search_all_tweets if self._options.archive else self._client.search_recent_tweets
        asked: dict[str, Any] = {
            "start_time": place.start, "end_time": place.end, "max_results": most or self.limits.page_size,
            "tweet_fields": _FIELDS, "sort_order": "recency",
        }  # fmt: skip
        if self._options.retweets:  # each may bring its original, which has its price too
            asked |= {"expansions": ["referenced_tweets.id"], "max_results": (most or self.limits.page_size) // 2}
        if place.token:
            asked["next_token"] = place.token
        answer = self._ask(lambda: ask_for(compiled.syntax, **asked), compiled)
        if not isinstance(answer.get("meta"), dict):
            raise SearchFailed(not_an_answer("meta").outcome)
        posts, unread = read_records(_list(answer, "data"), self._reader(answer, window))
        notices += unread + [f"X: {_said(error)}"[:200] for error in _list(answer, "errors")]
        token = answer["meta"].get("next_token")
        following = json.dumps(place._replace(token=token)) if isinstance(token, str) and token else None
        billed = _billed(answer, f"{compiled.syntax} {place.token or 'first'}")
        return Page(tuple(posts), following, tuple(notices), billed=billed)

    def gone(self, ids: Sequence[str]) -> set[str]:
        """By a batch compliance job, which costs nothing; looking posts up would cost as much as reading them."""
        return self._compliance.removed(ids)

    def close(self) -> None:
        self._client.session.close()

    def _first_cursor(self, window: Window) -> _Cursor | None:
        """The part of the window that the endpoint covers; None if it covers nothing of it."""
        now = self._clock()
        since = window.since if self._options.archive else max(window.since, now - _RECENT + _MARGIN)
        until = min(window.until, now - _NEWEST)
        return (
            _Cursor(_seconds(since), _seconds(until + timedelta(microseconds=999_999)), None) if since < until else None
        )

    def _resumed(self, place: _Cursor) -> _Cursor | None:
        """The window as it was, unless its start is by now so old that it would be refused; None if all of it is."""
        now = self._clock()
        if self._options.archive or datetime.fromisoformat(place.start) >= now - _RECENT + _SKEW:
            return place
        start = _seconds(now - _RECENT + _MARGIN)
        return place._replace(start=start) if start < place.end else None

    def _not_covered(self, window: Window) -> list[str]:
        missing = self._clock() - _RECENT + _MARGIN - window.since
        if self._options.archive or missing <= _MARGIN:
            return []
        days = max(1, round(missing / timedelta(days=1)))
        return [f"{days} day{'s' * (days > 1)} not covered: recent search reaches back seven days"]

    def _reader(self, answer: Mapping[str, Any], window: Window) -> "_Reader":
        included = _list(answer.get("includes"), "tweets")
        originals = {str(tweet["id"]): tweet for tweet in included if isinstance(tweet, dict) and tweet.get("id")}
        return _Reader(originals, self._salt, window)

    def _ask(self, request: Any, compiled: CompiledQuery | None = None) -> dict[str, Any]:
        errors = (tweepy.TweepyException, requests.RequestException, ValueError)
        answer = ask(request, errors, lambda exc: self._failure(exc, compiled.syntax if compiled else ""))
        return answer if isinstance(answer, dict) else {}

    def _failure(self, exc: Exception, syntax: str) -> SearchFailed:
        if not isinstance(exc, tweepy.HTTPException):
            return no_answer(exc)
        response, now = exc.response, self._clock()
        said = _problem(response)
        if response.status_code == 429 and _USED_UP in json.dumps(said):
            return SearchFailed(BudgetUsedUp(_next_billing(now, self._options.billing_day)))
        if response.status_code == 429 and (reset := count(response.headers.get("x-rate-limit-reset"))):
            return SearchFailed(RateLimited(datetime.fromtimestamp(reset, UTC)))
        detail = str(said.get("detail") or said.get("title") or "")
        return http_failure(response.status_code, response.headers, now, said=detail, query=syntax)


class _Reader:
    """Reads the records of one answer."""

    def __init__(self, originals: Mapping[str, Any], salt: str, window: Window) -> None:
        self._originals, self._salt, self._window = originals, salt, window

    def __call__(self, tweet: dict[str, Any]) -> Post | None:
        shared = next(
            (str(r["id"]) for r in tweet.get("referenced_tweets") or () if r.get("type") == "retweeted"), None
        )
        posted = moment(tweet["created_at"])
        if shared:  # the cut text of a share says less than its original
            tweet = self._originals.get(shared) or tweet | {"id": shared}
        elif not self._window.since <= posted < self._window.until:
            return None
        text = (tweet.get("note_tweet") or {}).get("text") or tweet["text"]
        metrics = tweet.get("public_metrics") or {}
        return Post(
            platform="x", platform_id=str(tweet["id"]), text=normalise(text), created_at=moment(tweet["created_at"]),
            url=f"https://x.com/i/status/{tweet['id']}", links=_links(tweet), language=tweet.get("lang") or "und",
            author=pseudonym(str(tweet["author_id"]), self._salt) if tweet.get("author_id") else None,
            reach=Reach(
                count(metrics.get("like_count")), count(metrics.get("retweet_count")),
                count(metrics.get("reply_count")), count(metrics.get("impression_count")),
            ),
        )  # fmt: skip


def _links(tweet: Mapping[str, Any]) -> tuple[str, ...]:
    """Full addresses, also those of a note; the shortened ones in the text lead to a host that is never asked."""
    entities: Iterable[Any] = (tweet.get("entities"), (tweet.get("note_tweet") or {}).get("entities"))
    urls = [url for found in entities for url in (found or {}).get("urls") or ()]
    full = [url.get("unwound_url") or url.get("expanded_url") for url in urls]
    return tuple(dict.fromkeys(url for url in full if isinstance(url, str)))


def _list(answer: Any, field: str) -> list[Any]:
    found = answer.get(field) if isinstance(answer, dict) else None
    return found if isinstance(found, list) else []


def _said(error: Any) -> str:
    return str(error.get("detail") or error.get("title")) if isinstance(error, dict) else str(error)


def _billed(answer: Mapping[str, Any], page: str) -> tuple[str, ...]:
    """Ids of every post of the answer, whether or not it could be read: X charges for what it returns, and for the
    originals that are asked for with retweets as for any post. A record without an id gets one by its place."""
    named = hashlib.sha256(page.encode()).hexdigest()[:16]
    ids = [
        str(record["id"]) if isinstance(record, dict) and record.get("id") else f"unread:{named}:{position}"
        for position, record in enumerate(_list(answer, "data") + _list(answer.get("includes"), "tweets"))
    ]
    return tuple(dict.fromkeys(ids))


def _problem(response: requests.Response) -> dict[str, Any]:
    try:
        said = response.json()
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _next_billing(now: datetime, day: int) -> datetime:
    begun = now.replace(day=day, hour=0, minute=0, second=0, microsecond=0)
    return begun if begun > now else (begun + timedelta(days=31)).replace(day=day)


def _seconds(value: datetime) -> str:
    return f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def build(options: Mapping[str, str], context: ConnectorContext) -> Connector:
    return XConnector(context, read_options(XOptions, context.name, options))
