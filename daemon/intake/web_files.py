"""Web pages and feeds: whatever ClaimReview they carry."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from daemon.intake.claim_review import Review, claim_reviews, page_of, raw_from_claim_review
from daemon.intake.record import RawFactCheck
from daemon.intake.source import Item, ReadOptions, Source
from daemon.intake.source_file import Stream, document, document_bytes
from domain.errors import BadInput
from domain.text import shorten


def read_page(source: Source, stream: Stream) -> Iterator[Item]:
    """The ClaimReviews of an HTML page; a block that should hold one and does not parse is rejected with its line.

    Raises BadInput if there is neither.
    """
    page = page_of(document(stream, source.path, source.options.encoding))
    broken = [script for script in page.scripts if script.fault and "ClaimReview" in script.text]
    contents = [script.content for script in page.scripts if not script.fault]
    if not broken and next(claim_reviews(contents), None) is None:
        raise BadInput(f"{source.path} holds no ClaimReview: give the page of a fact-check")
    line = next((s.line for s in page.scripts if next(claim_reviews(s.content), None)), 1)
    yield from source.reviews(contents, line, partial(raw_from_claim_review, canonical=page.canonical))
    for script in broken:
        yield source.rejected(script.line, f"its JSON-LD does not parse ({script.fault})", script.text)


def read_feed(source: Source, stream: Stream) -> Iterator[Item]:
    """The ClaimReviews of an RSS or Atom feed's items; an item without one is rejected. BadInput if it is no feed."""
    from lxml import etree

    data, encoding = _feed_bytes(source, stream)
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, encoding=encoding))
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise BadInput(f"{source.path} is no XML ({shorten(str(exc), 200)}): correct it") from exc
    items = root.xpath("//*[local-name()='item' or local-name()='entry']")
    if not items:
        raise BadInput(f"{source.path} is no feed with items: give the feed of a fact-checker")
    for item in items:
        yield from _feed_item(source, item)


def _feed_bytes(source: Source, stream: Stream) -> tuple[bytes, str | None]:
    """A feed without what XML does not allow, and its encoding: as the person says, or None if XML says it itself."""
    if source.options.encoding != ReadOptions().encoding:
        return document(stream, source.path, source.options.encoding).replace("\0", "").strip().encode(), "utf-8"
    data = document_bytes(stream, source.path)
    wide = 0 in data[:4]  # UTF-16, which the parser sees
    return (data if wide else data.replace(b"\0", b"").lstrip()), None


def _feed_item(source: Source, item: Any) -> Iterator[Item]:
    from lxml import etree

    reviews = [review for text in item.itertext() for review in _reviews_in(text.strip())]
    if reviews:
        yield from source.reviews(reviews, item.sourceline, partial(_raw_of_item, item=_Fields(item)))
    else:
        yield source.rejected(
            item.sourceline, "the item carries no ClaimReview", etree.tostring(item, encoding="unicode")
        )


class _Fields:
    """What a feed says of an item, whatever its dialect."""

    def __init__(self, item: Any) -> None:
        self.title = _child(item, "title")
        self.link = _child(item, "link")
        self.body = _child(item, "description") or _child(item, "summary")
        self.published_at = _child(item, "pubDate") or _child(item, "published") or _child(item, "date")


def _child(item: Any, name: str) -> str:
    """The text of a child element; of a link in Atom, the address of the article and not of its other forms."""
    for child in item.xpath("*[local-name()=$name]", name=name):
        if child.get("rel", "alternate") == "alternate" and (
            text := child.get("href") or "".join(child.itertext()).strip()
        ):
            return str(text)
    return ""


def _raw_of_item(review: Review, *, item: _Fields) -> RawFactCheck:
    """A ClaimReview, what it leaves out taken from the item around it."""
    raw = raw_from_claim_review(review)
    return replace(
        raw, url=raw.url or item.link, title=raw.title or item.title, body=raw.body or item.body,
        published_at=raw.published_at or item.published_at, aliases=(*raw.aliases, item.link),
    )  # fmt: skip


def _reviews_in(text: str) -> Iterator[Review]:
    """The ClaimReviews in a feed item's text: JSON itself, or the blocks of the HTML in it."""
    if text.startswith(("{", "[")):
        try:
            yield from claim_reviews(json.loads(text, strict=False))
        except (ValueError, RecursionError):
            return
    elif "ld+json" in text:
        for script in page_of(text).scripts:
            yield from claim_reviews(script.content)
