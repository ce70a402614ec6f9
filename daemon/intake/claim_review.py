"""ClaimReview, schema.org's form of a fact-check, wherever it stands: alone, in a list, a graph, a feed or a page."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from daemon.intake.record import RawFactCheck
from domain.urls import canonical_url

_DEEPEST = 20  # levels of nesting that are searched
_STRING_OR_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', re.DOTALL)
_WRAPPING = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?://\s*)?(?:-->|\]\]>)\s*$|;\s*$")

Review = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Script:
    """A JSON-LD block of a page: what it holds, or why it does not parse."""

    line: int
    text: str
    content: Any = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """`canonical` is the address that the page gives as its own, as it stands there; empty if it gives none."""

    scripts: tuple[Script, ...]
    canonical: str


def articles_in(document: Any) -> Iterator[Any]:
    """The parts of a JSON document that stand for an article each: elements of a list or of a data feed, or itself."""
    if isinstance(document, list):
        yield from document
    elif isinstance(document, dict) and isinstance(document.get("dataFeedElement"), list):
        yield from document["dataFeedElement"]
    else:
        yield document


def claim_reviews(part: Any, depth: int = 0) -> Iterator[Review]:
    """Every ClaimReview in a piece of JSON-LD, in order."""
    if isinstance(part, dict) and _is_claim_review(part):
        yield part
    elif isinstance(part, (dict, list)) and depth < _DEEPEST:
        for inner in part.values() if isinstance(part, dict) else part:
            if isinstance(inner, (dict, list)):
                yield from claim_reviews(inner, depth + 1)


def _is_claim_review(value: Review) -> bool:
    types = value.get("@type")
    names = [
        re.split(r"[/:#]", name)[-1]
        for name in (types if isinstance(types, list) else [types])
        if isinstance(name, str)
    ]
    return "ClaimReview" in names or ("claimReviewed" in value and ("reviewRating" in value or "@context" in value))


def raw_from_claim_review(review: Review, *, canonical: str = "") -> RawFactCheck:
    """Its fields as text. `canonical` is the address that the page around it gives as its own."""
    rating = _first(review.get("reviewRating")) or {}
    rating = rating if isinstance(rating, dict) else {"alternateName": rating}
    explanation, value = _text(rating.get("ratingExplanation")), _text(rating.get("ratingValue"))
    url, aliases = _addresses(review, canonical)
    body = _text(review.get("articleBody")) or _text(review.get("reviewBody")) or _text(review.get("description"))
    return RawFactCheck(
        url=url,
        claim=_wording(review.get("claimReviewed")),
        title=_text(review.get("headline")) or _text(review.get("name")),
        body="\n\n".join(dict.fromkeys(part for part in (body, explanation) if part)),
        publisher=_publisher(review),
        author=_names(review.get("author")),
        language=_language(review.get("inLanguage")),
        # An explanation is a sentence about the claim: it is read for a rating only where there is nothing else.
        rating=_text(rating.get("alternateName")) or _text(rating.get("name")) or ("" if value else explanation),
        rating_value=value,
        rating_best=_text(rating.get("bestRating")),
        rating_worst=_text(rating.get("worstRating")),
        published_at=_text(review.get("datePublished")) or _text(review.get("dateCreated")),
        aliases=aliases,
    )


def _addresses(review: Review, canonical: str) -> tuple[str, tuple[str, ...]]:
    """The article's address, and others it is known by.

    Its own page knows best (link rel=canonical), then the page it names as the one it is about, if that is on its host;
    neither counts where it is only a site's front page, as careless templates have it.
    """
    own = _text(review.get("url")) or _web_address(_text(review.get("@id")))
    main = _text(review.get("mainEntityOfPage"))
    canonical = urljoin(own, canonical) if canonical else ""
    main = main if not own or _host(main) == _host(own) else ""
    url = next((address for address in (canonical, main) if "/" in (canonical_url(address) or "")), own)
    others = dict.fromkeys([own, main, canonical, *map(_text, _list(review.get("sameAs")))])
    return url, tuple(other for other in others if other and other != url)


def _host(url: str) -> str:
    return re.split(r"[/?]", canonical_url(url) or "")[0]


def _web_address(identifier: str) -> str:
    return identifier if canonical_url(identifier) else ""


def _publisher(review: Review) -> str:
    """The publisher, or the organisation among the authors, or the first author."""
    organisations = [
        a for a in _list(review.get("author")) if isinstance(a, dict) and "Organization" in str(a.get("@type"))
    ]
    return _text(review.get("publisher")) or _text(organisations) or _text(review.get("author"))


def _names(value: Any) -> str:
    return ", ".join(name for name in map(_text, _list(value)) if name)


def _language(value: Any) -> str:
    value = _first(value)
    return (_text(value.get("alternateName")) or _text(value)) if isinstance(value, dict) else _text(value)


def _first(value: Any) -> Any:
    return (value[0] if value else None) if isinstance(value, list) else value


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    """A value as text: of a thing its name, or what it says of itself; of a list its first."""
    for _ in range(_DEEPEST):
        value = _first(value)
        if not isinstance(value, dict):
            break
        value = value.get("name") or value.get("url") or value.get("@value") or value.get("@id")
    return "" if value is None or isinstance(value, (bool, dict, list)) else str(value)


def _wording(value: Any) -> str:
    """The same of what must be text: a number, as of NaN, is none."""
    return "" if isinstance(_first(value), (int, float)) else _text(value)


def page_of(markup: str) -> Page:
    """The JSON-LD blocks of an HTML page, and its canonical address."""
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        root = html.document_fromstring(markup.replace("\0", "").encode(errors="ignore"), parser=parser)
    except etree.LxmlError:  # nothing but comments
        return Page((), "")
    blocks = root.xpath("//script[contains(translate(@type, 'JSONLD', 'jsonld'), 'ld+json')]")
    canonical = root.xpath(
        "//link[contains(concat(' ', translate(@rel, 'CANOIL', 'canoil'), ' '), ' canonical ')]/@href"
    )
    scripts = tuple(_script(block.sourceline or 1, block.text_content()) for block in blocks)
    return Page(scripts, str(next(iter(canonical), "")).strip())


def _script(line: int, text: str) -> Script:
    """A block as it was meant: control characters, commas before a closing bracket and wrappings are forgiven."""
    text = _WRAPPING.sub("", text)
    try:
        return Script(line, text, json.loads(text, strict=False))
    except (ValueError, RecursionError) as exc:
        fault = str(exc) if isinstance(exc, ValueError) else "nested too deep"
    try:
        return Script(line, text, json.loads(_STRING_OR_COMMA.sub(lambda found: found[1] or "", text), strict=False))
    except (ValueError, RecursionError):
        return Script(line, text, fault=fault)
