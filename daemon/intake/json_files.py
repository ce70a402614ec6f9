"""JSONL, and JSON documents: ClaimReview in any of its containers, or plain objects."""

import json
from collections.abc import Iterator
from typing import Any

from daemon.intake.claim_review import articles_in, claim_reviews
from daemon.intake.source import Item, Objects, Source
from daemon.intake.source_file import Stream, document, empty, lines
from domain.errors import BadInput


def read_jsonl(source: Source, stream: Stream) -> Iterator[Item]:
    """One item a line; blank lines are none."""
    objects, found = Objects(source), False
    for row, line in lines(stream, source.path, source.options.encoding):
        if not line.strip("\0 \t"):
            continue
        found = True
        try:
            part = _parsed(line)
        except (ValueError, RecursionError) as exc:
            yield source.rejected(row, f"it is no JSON ({_fault(exc)})", line)
        else:
            yield from _items(source, objects, part, row)
    if not found:
        raise empty(source.path)
    objects.finish()


def read_json(source: Source, stream: Stream) -> Iterator[Item]:
    """The items of a document, numbered from 1. Raises BadInput if it does not parse."""
    text = document(stream, source.path, source.options.encoding)
    try:
        parts = list(articles_in(_parsed(text)))
    except (ValueError, RecursionError) as exc:
        place = (
            f"line {exc.lineno} column {exc.colno}: {exc.msg}" if isinstance(exc, json.JSONDecodeError) else _fault(exc)
        )
        raise BadInput(
            f"{source.path} is no JSON ({place}): correct it, or name it .jsonl if it has one record a line"
        ) from exc
    has_reviews = any(next(claim_reviews(part), None) for part in parts)
    objects = Objects(source)
    for row, part in enumerate(parts, 1):
        if not (has_reviews and _is_something_else(part)):
            yield from _items(source, objects, part, row)
    objects.finish()


def _parsed(text: str) -> Any:
    """The value of a JSON text. NULs in strings are left for the cleaning to count, others are simply dropped."""
    try:
        return json.loads(text, strict=False)
    except ValueError:
        if "\0" not in text:
            raise
        return json.loads(text.replace("\0", ""), strict=False)


def _fault(exc: Exception) -> str:
    return "nested too deep" if isinstance(exc, RecursionError) else getattr(exc, "msg", str(exc))


def _is_something_else(part: Any) -> bool:
    """Whether a part that stands among ClaimReviews is another thing of schema.org, or a feed's empty element."""
    if isinstance(part, dict):
        return ("@type" in part or "item" in part) and next(claim_reviews(part), None) is None
    return part is None


def _items(source: Source, objects: Objects, part: Any, row: int) -> Iterator[Item]:
    if next(claim_reviews(part), None):
        yield from source.reviews(part, row)
    elif not isinstance(part, dict):
        yield source.rejected(row, "it is no JSON object", part)
    elif "@type" in part or "@graph" in part:
        yield source.rejected(row, "it carries no ClaimReview", part)
    else:
        yield objects.item(part, row)
