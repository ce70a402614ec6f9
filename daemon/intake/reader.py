"""Fact-checks from a file, one after another: clean records, and rejected ones with the reason.

Formats, by the file's name or else its beginning, unpacked if they are gzip: `.jsonl` and `.ndjson`; `.csv` and
`.tsv`; `.json` (ClaimReview in any of its containers, or plain objects); `.html` (a page); `.xml`, `.rss`, `.atom` (a
feed whose items carry ClaimReview).
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from daemon.intake.formats import FORMATS, SAMPLE, format_of
from daemon.intake.json_files import read_json, read_jsonl
from daemon.intake.source import Item, ReadOptions, Source
from daemon.intake.source_file import Stream, opened
from daemon.intake.tables import read_table
from daemon.intake.web_files import read_feed, read_page
from domain.errors import BadInput

__all__ = ["ReadOptions", "read_fact_checks"]

_READERS: dict[str, Callable[[Source, Stream], Iterator[Item]]] = {
    "jsonl": read_jsonl, "csv": read_table, "json": read_json, "html": read_page, "feed": read_feed,
}  # fmt: skip


def read_fact_checks(path: Path, options: ReadOptions) -> Iterator[Item]:
    """Every record of a file, in order. Raises BadInput, in one line, for a file that cannot be used as a whole."""
    if options.format is not None and options.format not in FORMATS:
        raise BadInput(f"format {options.format!r}: there is no such format: choose from {', '.join(FORMATS)}")
    with opened(path) as stream:
        kind = options.format or format_of(path, stream.peek(SAMPLE)[:SAMPLE])
        yield from _READERS[kind](Source(path, options), stream)
