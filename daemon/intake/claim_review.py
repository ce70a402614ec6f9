"""ClaimReview, schema.org's form of a fact-check, wherever it stands: alone, in a list, a graph, a feed or a page."""

import json
from collections.abc import Iterator
from typing import Any

from daemon.intake.record import RawFactCheck

_CONTAINERS = ("@graph", "dataFeedElement", "item", "itemListElement", "mainEntity", "claimReview", "claimReviews")


def claim_reviews(document: Any) -> Iterator[dict[str, Any]]:
    """Every ClaimReview of a JSON-LD document, in order."""
    if isinstance(document, list):
        for part in document:
            yield from claim_reviews(part)
    elif isinstance(document, dict):
        if _is_claim_review(document):
            yield document
        else:
            for container in _CONTAINERS:
                yield from claim_reviews(document.get(container))


def _is_claim_review(value: dict[str, Any]) -> bool:
    types = value.get("@type") or value.get("type") or ""
    return "ClaimReview" in (types if isinstance(types, list) else [types]) or "claimReviewed" in value


def raw_from_claim_review(review: dict[str, Any], *, canonical: str = "") -> RawFactCheck:
    """Its fields as text. `canonical` is the address that the page around it gives as its own."""
    rating = _first(review.get("reviewRating")) or {}
    rating = rating if isinstance(rating, dict) else {"alternateName": rating}
    own = _text(review.get("url")) or _text(review.get("mainEntityOfPage"))
    url = canonical or own
    others = [own, _text(review.get("mainEntityOfPage")), *_texts(review.get("sameAs"))]
    return RawFactCheck(
        id=_text(review.get("@id")),
        url=url,
        claim=_text(review.get("claimReviewed")),
        title=_text(review.get("headline")) or _text(review.get("name")),
        body=_text(review.get("articleBody")) or _text(review.get("reviewBody")) or _text(review.get("description")),
        publisher=_text(review.get("publisher")) or _text(review.get("author")),
        author=_text(review.get("author")),
        language=_text(review.get("inLanguage")),
        rating=_text(rating.get("alternateName"))
        or _text(rating.get("name"))
        or _text(rating.get("ratingExplanation")),
        rating_value=_text(rating.get("ratingValue")),
        rating_best=_text(rating.get("bestRating")),
        rating_worst=_text(rating.get("worstRating")),
        published_at=_text(review.get("datePublished")) or _text(review.get("dateCreated")),
        aliases=tuple(other for other in others if other and other != url),
    )


def json_ld_of_page(page: str) -> tuple[list[Any], str]:
    """The JSON-LD documents of an HTML page, and its canonical address. Raises ValueError if none of them parses."""
    from lxml import html

    root = html.document_fromstring(page)
    blocks = root.xpath("//script[starts-with(normalize-space(@type), 'application/ld+json')]")
    documents, faults = [], []
    for block in blocks:
        try:
            documents.append(json.loads(block.text_content().strip().rstrip(";"), strict=False))
        except ValueError as exc:
            faults.append(exc)
    if faults and not documents:
        raise faults[0]
    return documents, next(iter(root.xpath("//link[@rel='canonical']/@href")), "")


def _first(value: Any) -> Any:
    return (value[0] if value else None) if isinstance(value, list) else value


def _text(value: Any) -> str:
    """A value as text: of a thing its name, or what it says of itself; of a list its first."""
    value = _first(value)
    if isinstance(value, dict):
        return _text(value.get("name") or value.get("url") or value.get("@value") or value.get("@id"))
    return "" if value is None or isinstance(value, bool) else str(value)


def _texts(value: Any) -> list[str]:
    return [_text(part) for part in (value if isinstance(value, list) else [value])]
