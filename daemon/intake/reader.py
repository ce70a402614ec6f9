"""Fact-checks from a file, one after another: clean records, and rejected ones with the reason.

Formats, by the file's name, `.gz` unpacked: `.jsonl` and `.ndjson`; `.csv` and `.tsv`; `.json` (ClaimReview in any of
its containers, or plain objects); `.html` (a page); `.xml`, `.rss`, `.atom` (a feed whose items carry ClaimReview).
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from daemon.intake.claim_review import claim_reviews, json_ld_of_page, raw_from_claim_review
from daemon.intake.cleaning import clean
from daemon.intake.columns import Columns, match_columns, raw_from_row
from daemon.intake.record import RECORD_LIMIT, FactCheckRecord, RawFactCheck, Rejected, UnusableRecord
from daemon.intake.source_file import document, lines
from domain.clock import system_clock
from domain.errors import BadInput

_FORMATS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonld": "json",
    ".html": "html", ".htm": "html", ".xml": "feed", ".rss": "feed", ".atom": "feed",
}  # fmt: skip

Item = FactCheckRecord | Rejected


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """`columns` names a column's field; `default_rating` and `publisher` stand in where a record gives none."""

    encoding: str = "utf-8-sig"
    columns: Mapping[str, str] = field(default_factory=dict)
    ignore: frozenset[str] = frozenset()
    default_rating: str = ""
    publisher: str = ""
    clock: Callable[[], datetime] = system_clock


def read_fact_checks(path: Path, options: ReadOptions) -> Iterator[Item]:
    """Every record of a file. Raises BadInput, in one line, for a file that cannot be used as a whole."""
    stem = Path(path.name.removesuffix(".gz"))
    kind = _FORMATS.get(stem.suffix.lower())
    if kind is None:
        raise BadInput(f"{path}: what is it? Name it .jsonl, .csv, .tsv, .json, .html or .xml (each also .gz)")
    read = {"jsonl": _jsonl, "csv": _csv, "tsv": _csv, "json": _json, "html": _html, "feed": _feed}[kind]
    return read(_Source(path, stem.stem, options))


@dataclass(frozen=True, slots=True)
class _Source:
    path: Path
    name: str  # the space of its ids
    options: ReadOptions

    def cleaned(self, raw: RawFactCheck, row: int, original: object) -> Item:
        raw = replace(raw, rating=raw.rating or ("" if raw.rating_value else self.options.default_rating))
        raw = replace(raw, publisher=raw.publisher or self.options.publisher)
        try:
            return clean(raw, source=self.name, clock=self.options.clock)
        except UnusableRecord as exc:
            return self.rejected(row, exc.field, exc.reason, original)

    def rejected(self, row: int, field: str, reason: str, original: object) -> Rejected:
        text = original if isinstance(original, str) else json.dumps(original, ensure_ascii=False, default=str)
        return Rejected(self.path.name, row, field, reason, text.replace("\0", "")[:RECORD_LIMIT])

    def columns(self, found: Iterator[str] | list[str]) -> Columns:
        return match_columns(found, chosen=self.options.columns, ignored=self.options.ignore, file=str(self.path))


def _jsonl(source: _Source) -> Iterator[Item]:
    columns: Columns | None = None
    for row, line in lines(source.path, source.options.encoding):
        if not line.strip():
            continue
        try:
            record = json.loads(line, strict=False)
        except (ValueError, RecursionError) as exc:
            yield source.rejected(row, "", f"it is no JSON ({getattr(exc, 'msg', 'nested too deep')})", line)
            continue
        if not isinstance(record, dict):
            yield source.rejected(row, "", "it is no JSON object", line)
            continue
        if next(claim_reviews(record), None):
            yield from _reviews(source, record, row)
            continue
        if columns is None:
            columns = source.columns(list(record))
        yield _object(source, record, columns, row)


def _object(source: _Source, record: dict[str, Any], columns: Columns, row: int) -> Item:
    """A plain object; keys that the first object did not have are looked up one by one."""
    extra = [key for key in record if key not in columns]
    if extra:
        try:
            columns = {**columns, **source.columns(extra)}
        except BadInput:
            return source.rejected(row, extra[0], "it is an unknown field: map it or ignore it", record)
    return source.cleaned(raw_from_row(record, columns), row, record)


def _csv(source: _Source) -> Iterator[Item]:
    csv.field_size_limit(2**24)
    delimiter = "\t" if Path(source.path.name.removesuffix(".gz")).suffix.lower() == ".tsv" else ","
    text = (line.replace("\0", "") for _, line in lines(source.path, source.options.encoding))
    reader = csv.reader(text, delimiter=delimiter)
    try:
        header = next(reader)
        columns = source.columns(header)
        if "claim" not in columns.values():
            raise BadInput(
                f"{source.path} has no column with the claim: its first line must name the columns (--map X=claim)"
            )
        for cells in reader:
            if len(cells) == len(header):
                row = dict(zip(header, cells, strict=True))
                yield source.cleaned(raw_from_row(row, columns), reader.line_num, row)
            elif cells:
                reason = f"it has {len(cells)} cells, the header has {len(header)}"
                yield source.rejected(reader.line_num, "", reason, cells)
    except csv.Error as exc:
        raise BadInput(f"{source.path} line {reader.line_num}: {exc}: correct the quotes") from exc


def _json(source: _Source) -> Iterator[Item]:
    text = document(source.path, source.options.encoding)
    try:
        parsed = json.loads(text, strict=False)
    except (ValueError, RecursionError) as exc:
        place = (
            f"line {exc.lineno} column {exc.colno}: {exc.msg}" if isinstance(exc, json.JSONDecodeError) else str(exc)
        )
        raise BadInput(
            f"{source.path} is no JSON ({place}): correct it, or name it .jsonl if it has one record a line"
        ) from exc
    if next(claim_reviews(parsed), None):
        yield from _reviews(source, parsed, None)
        return
    objects = parsed if isinstance(parsed, list) else [parsed]
    columns: Columns | None = None
    for row, record in enumerate(objects, 1):
        if not isinstance(record, dict):
            yield source.rejected(row, "", "it is no JSON object", record)
            continue
        if columns is None:
            columns = source.columns(list(record))
        yield _object(source, record, columns, row)


def _reviews(source: _Source, parsed: Any, row: int | None, canonical: str = "") -> Iterator[Item]:
    for number, review in enumerate(claim_reviews(parsed), 1):
        yield source.cleaned(raw_from_claim_review(review, canonical=canonical), row or number, review)


def _html(source: _Source) -> Iterator[Item]:
    page = document(source.path, source.options.encoding)
    try:
        documents, canonical = json_ld_of_page(page)
    except ValueError as exc:
        raise BadInput(f"{source.path}: its JSON-LD does not parse ({exc}): correct the page") from exc
    if next(claim_reviews(documents), None) is None:
        raise BadInput(f"{source.path} holds no ClaimReview: give the page of a fact-check")
    yield from _reviews(source, documents, None, canonical)


def _feed(source: _Source) -> Iterator[Item]:
    from lxml import etree

    text = document(source.path, source.options.encoding)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    try:
        root = etree.fromstring(text.encode(), parser)
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise BadInput(f"{source.path} is no XML ({exc}): correct it") from exc
    items = root.xpath("//*[local-name()='item' or local-name()='entry']")
    if not items:
        raise BadInput(f"{source.path} is a feed without items: give one with fact-checks")
    for item in items:
        yield from _feed_item(source, item)


def _feed_item(source: _Source, item: Any) -> Iterator[Item]:
    texts = [text.strip() for text in item.itertext() if text.strip()]
    found = [review for text in texts for review in _reviews_in(text)]
    link = next(iter(item.xpath("*[local-name()='link']/@href | *[local-name()='link']/text()")), "")
    if not found:
        yield source.rejected(item.sourceline, "", "the item carries no ClaimReview", " ".join(texts))
    for review in found:
        raw = raw_from_claim_review(review)
        yield source.cleaned(raw if raw.url else replace(raw, url=link), item.sourceline, review)


def _reviews_in(text: str) -> list[dict[str, Any]]:
    """ClaimReview in a feed item's text: JSON itself, or the script blocks of the HTML in it."""
    try:
        if text.startswith(("{", "[")):
            return list(claim_reviews(json.loads(text, strict=False)))
        if "ld+json" in text:
            return list(claim_reviews(json_ld_of_page(text)[0]))
    except ValueError:
        return []
    return []
