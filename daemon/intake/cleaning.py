"""From what a source said to what is stored: text without markup, one key an article, rating and date in our terms."""

import hashlib
import re
from collections.abc import Callable
from datetime import datetime

from daemon.intake.dates import parse_date
from daemon.intake.rating import rate
from daemon.intake.record import FactCheckRecord, RawFactCheck, UnusableRecord
from domain.clock import system_clock
from domain.text import normalise, one_line
from domain.urls import canonical_url

_MARKUP = re.compile(r"<[a-zA-Z/!][^>]*>")
_BLOCKS = frozenset(
    {"p", "div", "br", "li", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "tr", "blockquote", "section"}
)


def clean(raw: RawFactCheck, *, source: str, clock: Callable[[], datetime] = system_clock) -> FactCheckRecord:
    """The record ready for the store. `source` names the id's space where there is no URL.

    Raises UnusableRecord where the claim is missing or the URL is none.
    """
    claim = one_line(_text(raw.claim))
    if not claim:
        raise UnusableRecord("claim", "it is missing or empty")
    publisher = one_line(_text(raw.publisher))
    url, key, flags = _identify(raw, source, claim, publisher)
    rating = rate(one_line(_text(raw.rating)), raw.rating_value, raw.rating_best, raw.rating_worst)
    published_at = parse_date(raw.published_at, now=clock())
    if raw.published_at.strip() and published_at is None:
        flags = (*flags, f"date kept aside: {one_line(raw.published_at)[:60]}")
    aliases = {alias for address in raw.aliases if (alias := canonical_url(address)) and alias != key}
    return FactCheckRecord(
        key=key, url=url, claim=claim, title=one_line(_text(raw.title)), body=_text(raw.body), publisher=publisher,
        author=one_line(_text(raw.author)), language=_language(raw.language), rating_given=one_line(_text(raw.rating)),
        rating_value=normalise(raw.rating_value) or None, rating_best=normalise(raw.rating_best) or None,
        rating_worst=normalise(raw.rating_worst) or None, rating_score=rating.score,
        rating_flags=(*rating.flags, *flags),
        verdict=rating.verdict, published_at=published_at, aliases=tuple(sorted(aliases)),
    )  # fmt: skip


def _identify(raw: RawFactCheck, source: str, claim: str, publisher: str) -> tuple[str | None, str, tuple[str, ...]]:
    """Address, key and flags. Without address and id, publisher and claim together tell one record from another."""
    given = normalise(raw.url)
    if given.startswith("/") and not given.startswith("//"):
        return None, f"{source}:{given.rstrip('/')}", ("address without a host",)
    if given:
        key = canonical_url(given)
        if key is None:
            raise UnusableRecord("url", f"{given[:100]!r} is no http(s) address")
        return given, key, ()
    if identifier := one_line(raw.id):
        return None, f"{source}:{identifier}", ()
    return None, f"{source}:{hashlib.sha1(f'{publisher}|{claim.casefold()}'.encode()).hexdigest()[:16]}", ()


def _text(value: str) -> str:
    return normalise(_without_markup(value) if _MARKUP.search(value) else value)


def _without_markup(value: str) -> str:
    """The text of an HTML fragment; blocks become lines, scripts and styles go."""
    from lxml import html

    try:
        root = html.fragment_fromstring(value.replace("\0", ""), create_parent="div")
    except (ValueError, html.etree.ParserError):
        return _MARKUP.sub(" ", value)
    for element in root.iter():
        if element.tag in {"script", "style"} or not isinstance(element.tag, str):
            element.text = ""
        elif element.tag in _BLOCKS:
            element.tail = "\n" + (element.tail or "")
            element.text = "\n" + (element.text or "")
    return str(root.text_content())


def _language(value: str) -> str:
    """The primary tag of a BCP 47 language: `en` of `en-GB`."""
    found = re.match(r"[a-zA-Z]{2,3}(?![a-zA-Z])", value.strip())
    return found[0].lower() if found else ""
