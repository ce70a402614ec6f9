"""Which posts were removed from X, by a batch compliance job: ids go up, those to be deleted come down."""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import requests
import tweepy

from connectors.asking import TIMEOUT_S
from connectors.protocol import SearchFailed
from domain.outcome import Unavailable

_POLLS = 12
_BETWEEN_POLLS_S = 5.0  # in all a minute, less than a worker's lease

Ask = Callable[[Callable[[], Any]], dict[str, Any]]


def removed(
    client: tweepy.Client, ids: Sequence[str], ask: Ask, *, pause: Callable[[float], None] = time.sleep
) -> set[str]:
    """Those of the ids that must be deleted. Raises SearchFailed, also if the job is not done within a minute."""
    if not ids:
        return set()
    job = ask(lambda: client.create_compliance_job("tweets"))["data"]
    ask(lambda: _transfer("PUT", job["upload_url"], "\n".join(ids)))
    for _ in range(_POLLS):
        state = ask(lambda: client.get_compliance_job(job["id"]))["data"]["status"]
        if state == "complete":
            lines = ask(lambda: {"text": _transfer("GET", job["download_url"])})["text"].splitlines()
            return {str(json.loads(line)["id"]) for line in lines if line.strip()}
        if state in {"failed", "expired"}:
            raise SearchFailed(Unavailable(f"the compliance job {state}"))
        pause(_BETWEEN_POLLS_S)
    raise SearchFailed(Unavailable("the compliance job is not done yet: asked again at the next recheck"))


def _transfer(method: str, url: str, body: str | None = None) -> str:
    response = requests.request(
        method, url, data=body.encode() if body else None, headers={"Content-Type": "text/plain"} if body else None,
        timeout=TIMEOUT_S,
    )  # fmt: skip
    response.raise_for_status()
    return response.text
