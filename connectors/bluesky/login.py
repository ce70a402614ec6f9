"""The login at a Bluesky server, kept on disk: a session may be made 30 times in five minutes and 300 times a day."""

import hashlib
import json
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from atproto_client import Client
from atproto_client.exceptions import AtProtocolError, RequestErrorBase
from atproto_client.request import Request
from pydantic import SecretStr

from connectors.asking import TIMEOUT_S, ask, http_failure, no_answer
from connectors.protocol import ConnectorContext, SearchFailed
from domain.outcome import NotPermitted, RateLimited

_LOGINS_A_DAY = 100  # of the 300 that the server allows
_DAY = timedelta(days=1)


class Login:
    """A client with the kept session, or a new one; anonymous where no account is set up. May be shared by threads."""

    def __init__(self, context: ConnectorContext, base_url: str, identifier: str, password: SecretStr) -> None:
        self._clock, self._identifier, self._password = context.clock, identifier, password
        # Of this account at this server: a session of another one would search in its name.
        self._mark = hashlib.sha256(f"{base_url} {identifier}".encode()).hexdigest()[:16]
        self._file = context.folder / f"bluesky-{context.name}.session"
        self._log = context.folder / f"bluesky-{context.name}.logins"
        timeout = httpx.Timeout(TIMEOUT_S[1], connect=TIMEOUT_S[0])
        self._client = Client(base_url, request=Request(timeout=timeout))
        self._client.on_session_change(lambda _, session: self._keep(session.encode()))
        self._lock = threading.Lock()
        self._ready = not identifier

    @property
    def has_account(self) -> bool:
        return bool(self._identifier)

    def client(self) -> Any:
        """Raises SearchFailed where the login is refused or was tried too often."""
        with self._lock:
            if not self._ready:
                if not self._resume():
                    self._begin()
                self._ready = True
        return self._client

    def renewed(self) -> Any:
        """The client with a new session in place of an expired one."""
        with self._lock:
            self._begin()
        return self._client

    def close(self) -> None:
        self._client.request.close()

    def _resume(self) -> bool:
        try:
            mark, session = self._file.read_text().split("\n")
            if mark != self._mark:
                return False
            self._client.login(session_string=session, fetch_bsky_profile=False)
        except (OSError, ValueError, AtProtocolError):
            return False
        return True

    def _begin(self) -> None:
        self._count_login()
        password = self._password.get_secret_value()
        ask(
            lambda: self._client.login(self._identifier, password, fetch_bsky_profile=False),
            (AtProtocolError, httpx.HTTPError), self._failure,
        )  # fmt: skip

    def _failure(self, exc: Exception) -> SearchFailed:
        response = exc.response if isinstance(exc, RequestErrorBase) else None
        if response is None:
            return no_answer(exc)
        if response.status_code in {400, 401}:
            return SearchFailed(NotPermitted("the login was refused: check identifier and app_password"))
        return http_failure(response.status_code, response.headers, self._clock())

    def _count_login(self) -> None:
        now = self._clock()
        recent = [moment for moment in _moments(self._log) if moment > now - _DAY]
        if len(recent) >= _LOGINS_A_DAY:
            raise SearchFailed(RateLimited(recent[0] + _DAY))
        self._log.write_text(json.dumps([moment.isoformat() for moment in (*recent, now)]))

    def _keep(self, session: str) -> None:
        self._file.touch(mode=0o600)
        self._file.write_text(f"{self._mark}\n{session}")


def _moments(path: Path) -> list[datetime]:
    try:
        return sorted(datetime.fromisoformat(text) for text in json.loads(path.read_text()))
    except (OSError, ValueError):
        return []
