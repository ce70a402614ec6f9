"""Opens what a command works with: settings, logging, service."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from daemon.logs import set_up_logging
from daemon.service import Service
from daemon.settings import Settings, load_settings
from daemon.wiring import open_service
from domain.errors import BadInput


def settings() -> Settings:
    """The settings, with logging set up as they say."""
    loaded = load_settings()
    set_up_logging(loaded.log)
    return loaded


@contextmanager
def service() -> Iterator[Service]:
    with open_service(settings()) as opened:
        yield opened


def claim_text(text: str) -> str:
    """An argument that must have words. Raises BadInput: a shell may have eaten it."""
    from domain.text import normalise

    cleaned = normalise(text)
    if not cleaned:
        raise BadInput("empty claim: give its text in quotes (single quotes if it holds a $)")
    return cleaned


def day(text: str | None) -> datetime | None:
    """A date argument, YYYY-MM-DD."""
    if text is None:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d")  # noqa: DTZ007  (a calendar day, no moment)
    except ValueError as exc:
        raise BadInput(f"--date {text}: write it as YYYY-MM-DD") from exc
