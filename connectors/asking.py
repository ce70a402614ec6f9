"""One request to a platform: short failures are tried again, the others become one of the four outcomes."""

import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import requests
import stamina
from requests.adapters import HTTPAdapter

from connectors.protocol import SearchFailed
from domain.outcome import BudgetUsedUp, NotPermitted, RateLimited, Unavailable
from domain.text import shorten

TIMEOUT_S = (5.0, 20.0)  # to connect, to wait for data
ATTEMPTS = 3
_LONGEST_S = 30.0  # all attempts of one request together; a worker's lease is longer
_RATE_LIMIT = timedelta(minutes=15)  # where a platform does not say how long

T = TypeVar("T")


class PassingFailure(SearchFailed):
    """Unavailable, perhaps only now: worth another attempt."""


def ask(
    request: Callable[[], T], errors: type[Exception] | tuple[type[Exception], ...],
    failure: Callable[[Any], SearchFailed],
) -> T:  # fmt: skip
    """The answer, after up to three attempts with jitter. `failure` says what an error of the client means."""
    # Its own hook writes to standard output, into the answer of a command; what came of it all is told by who asked.
    stamina.instrumentation.set_on_retry_hooks(())
    for attempt in stamina.retry_context(
        on=PassingFailure, attempts=ATTEMPTS, timeout=_LONGEST_S, wait_initial=0.2, wait_max=5, wait_jitter=1
    ):
        with attempt:
            try:
                return request()
            except errors as exc:
                # Not chained: clients keep headers, and so tokens, in what they raise.
                raise failure(exc) from None
    raise AssertionError("a retry ends with an answer or an error")


def http_failure(
    status: int, headers: Mapping[str, str], now: datetime, *, said: str = "", query: str = ""
) -> SearchFailed:
    """What an HTTP status means where the platform gives it no meaning of its own."""
    said = shorten(said, 160)
    behind = f" ({said})" if said else ""
    if until := retry_after(headers, now):
        return SearchFailed(RateLimited(until))
    if status == 429:
        return SearchFailed(RateLimited(now + _RATE_LIMIT + timedelta(seconds=random.uniform(0, 30))))
    if status == 402:
        return SearchFailed(BudgetUsedUp(None))
    if status == 401:
        return SearchFailed(NotPermitted(f"the login was refused{behind}: check its token or password"))
    if status == 403:
        return SearchFailed(NotPermitted(f"the platform forbids it{behind}: check what the account may do"))
    if status >= 500:
        return PassingFailure(Unavailable(f"the server answered {status}{behind}"))
    return SearchFailed(Unavailable(f"the server answered {status}{behind} to the query {shorten(query, 120)!r}"))


def no_answer(exc: Exception) -> SearchFailed:
    """A connection that failed, was cut or took too long; the host stands in the settings, so only the kind is told."""
    return PassingFailure(
        Unavailable(f"no whole answer came ({type(exc).__name__}): is the network there, and the address right?")
    )


def not_an_answer(what: str) -> SearchFailed:
    """A good status with something else than what was asked for: a captive network, a page of maintenance."""
    return PassingFailure(Unavailable(f"the answer is none to a search: it lacks {what}"))


def retry_after(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """The moment that a Retry-After header names, in seconds from now or as a date."""
    given = next((value for name, value in headers.items() if name.lower() == "retry-after"), "").strip()
    if not given:
        return None
    try:
        return now + timedelta(seconds=min(float(given), 7 * 86400))
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(given).astimezone(UTC)
    except (ValueError, TypeError):
        return None


class _At(HTTPAdapter):
    """Sends what a client addresses to its built-in host to another one, with time-outs."""

    def __init__(self, built_in: str, base_url: str) -> None:
        super().__init__()
        self._built_in, self._base_url = built_in, base_url.rstrip("/")

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        if request.url and self._built_in:
            request.url = self._base_url + request.url.removeprefix(self._built_in)
        kwargs["timeout"] = kwargs.get("timeout") or TIMEOUT_S
        return super().send(request, *args, **kwargs)


def session_at(base_url: str, *, built_in: str = "") -> requests.Session:
    """A session with time-outs whose requests to the host `built_in` go to `base_url`."""
    session = requests.Session()
    session.mount(built_in or base_url, _At(built_in, base_url))
    return session
