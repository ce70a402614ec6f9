"""Opens what a command works with: settings, logging, service."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime

from daemon.logs import set_up_logging
from daemon.service import Service
from daemon.settings import LogSettings, Settings, load_settings
from daemon.wiring import open_service
from domain.errors import BadInput

_SERVICE = frozenset({"run", "worker", "stream"})  # the commands that go on until they are stopped
_command: ContextVar[str | None] = ContextVar("command", default=None)


def begin(command: str | None) -> None:
    """Note which command is run."""
    _command.set(command)


def settings() -> Settings:
    """The settings, with logging set up as they say."""
    loaded = load_settings()
    set_up_logging(_log(loaded.log))
    return loaded


def _log(given: LogSettings) -> LogSettings:
    """What happens is logged by the service; a command that answers logs, unless told so, only what is amiss."""
    if "level" in given.model_fields_set or _command.get() in _SERVICE:
        return given
    return given.model_copy(update={"level": "WARNING"})


@contextmanager
def service() -> Iterator[Service]:
    with open_service(settings()) as opened:
        yield opened


def claim_text(text: str, what: str = "claim") -> str:
    """An argument that must hold text; `what` it is. Raises BadInput: a shell may have eaten it."""
    from domain.text import normalise

    cleaned = normalise(text)
    if not cleaned:
        raise BadInput(f"empty {what}: give its text in quotes (single quotes if it holds a $)")
    return cleaned


def language(code: str) -> str:
    """The code of a language that --language was given. Raises BadInput for what is none."""
    if not re.fullmatch(r"[A-Za-z]{2,3}", code):
        raise BadInput(f"--language {code}: give a code of two or three letters, as en or es")
    return code.lower()


def day(text: str | None) -> datetime | None:
    """A date argument, YYYY-MM-DD."""
    if text is None:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d")  # noqa: DTZ007  (a calendar day, no moment)
    except ValueError as exc:
        raise BadInput(f"--date {text}: write it as YYYY-MM-DD") from exc
