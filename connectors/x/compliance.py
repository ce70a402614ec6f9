"""Which posts were removed from X, by batch compliance jobs: ids go up, those to be deleted come down.

X runs one job at a time, and a long one takes more than a worker's minute. So the job that is open stands in a file,
and whoever asks next waits for that one instead of beginning another.
"""

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import requests
import tweepy

from connectors.asking import TIMEOUT_S
from connectors.protocol import SearchFailed
from connectors.records import moment
from domain.clock import Clock
from domain.outcome import Unavailable

_POLLS = 12
_BETWEEN_POLLS_S = 5.0  # in all a minute, less than a worker's lease
# Posts are asked for again after 18 of the 24 hours in which a removed one must go: an older answer comes too late.
_GOOD_FOR = timedelta(hours=6)

Ask = Callable[[Callable[[], Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Job:
    id: str
    begun: str  # ISO 8601; of the oldest answer, where there are answers
    ids: list[str]
    answers: dict[str, bool]  # whether gone: what jobs before it said of ids that were asked for together with these


class ComplianceJobs:
    """Asks by one job after another; `file` holds the one that is open."""

    def __init__(
        self, client: tweepy.Client, ask: Ask, file: Path, clock: Clock, *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._client, self._ask, self._file, self._clock, self._pause = client, ask, file, clock, pause

    def removed(self, ids: Sequence[str]) -> set[str]:
        """Those of the ids that must be deleted. Raises SearchFailed, also if the job is not done within a minute."""
        if not ids:
            return set()
        try:
            answers = self._answers(ids)
        except (KeyError, TypeError, ValueError) as exc:
            why = f"the answer about a compliance job cannot be read ({type(exc).__name__})"
            raise SearchFailed(Unavailable(why)) from None
        self._file.unlink(missing_ok=True)
        return {id_ for id_ in ids if answers[id_]}

    def _answers(self, ids: Sequence[str]) -> dict[str, bool]:
        """Whether each is gone: what the open job says, and a new one of those that it was not asked about."""
        job = _read(self._file, self._clock() - _GOOD_FOR)
        answers = self._wait_for(job) if job else {}
        rest = [id_ for id_ in ids if id_ not in answers]
        if rest:
            begun = job.begun if job else self._clock().isoformat()
            known = {id_: answers[id_] for id_ in ids if id_ in answers}
            answers = self._wait_for(self._begin(_Job("", begun, rest, known)))
        return answers

    def _begin(self, asked: _Job) -> _Job:
        begun = self._ask(lambda: self._client.create_compliance_job("tweets"))["data"]
        self._ask(lambda: _transfer("PUT", begun["upload_url"], "\n".join(asked.ids)))
        job = _Job(str(begun["id"]), asked.begun, asked.ids, asked.answers)
        _write(self._file, job)
        return job

    def _wait_for(self, job: _Job) -> dict[str, bool]:
        """What the job, and those before it, say of each id."""
        for _ in range(_POLLS):
            state = self._ask(lambda: self._client.get_compliance_job(job.id))["data"]
            if state["status"] == "complete":
                gone = self._listed(state["download_url"])
                return job.answers | {id_: id_ in gone for id_ in job.ids}
            if state["status"] in ("failed", "expired"):
                self._file.unlink(missing_ok=True)
                raise SearchFailed(Unavailable(f"the compliance job {state['status']}"))
            self._pause(_BETWEEN_POLLS_S)
        raise SearchFailed(Unavailable("the compliance job is not done yet: taken up again at the next recheck"))

    def _listed(self, url: str) -> set[str]:
        lines = self._ask(lambda: {"text": _transfer("GET", url)})["text"].splitlines()
        return {str(json.loads(line)["id"]) for line in lines if line.strip()}


def _read(file: Path, since: datetime) -> _Job | None:
    """The open job; None if there is none, it was begun before `since`, or the file is damaged."""
    try:
        found = json.loads(file.read_text())
        answers = {str(id_): bool(gone) for id_, gone in found["answers"].items()}
        job = _Job(str(found["id"]), str(found["begun"]), [str(id_) for id_ in found["ids"]], answers)
        return job if moment(job.begun) >= since else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _write(file: Path, job: _Job) -> None:
    with NamedTemporaryFile("w", dir=file.parent, prefix=file.name, delete=False) as partial:
        json.dump(asdict(job), partial)
    os.replace(partial.name, file)


def _transfer(method: str, url: str, body: str | None = None) -> str:
    response = requests.request(
        method, url, data=body.encode() if body else None, headers={"Content-Type": "text/plain"} if body else None,
        timeout=TIMEOUT_S,
    )  # fmt: skip
    response.raise_for_status()
    return response.text
