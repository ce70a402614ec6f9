"""From what a source said to what is stored: text without markup, one key an article, rating and date in our terms."""

import hashlib
import re
from collections.abc import Callable
from datetime import datetime

from daemon.intake.dates import parse_date
from daemon.intake.markup import line_of, text_of
from daemon.intake.rating import rate
from daemon.intake.record import FactCheckRecord, RawFactCheck, UnusableRecord
from domain.clock import system_clock
from domain.text import one_line, shorten, tidy
from domain.urls import canonical_url

__all__ = ["UnusableRecord", "clean"]

_LONGEST_KEY = 2000  # bytes; an index of Postgres takes no more than 2,704
_NO_LANGUAGE = frozenset({"und", "mul", "mis", "zxx"})  # ISO 639: undetermined, several, uncoded, none

NUL_REMOVED = "NUL removed"
NO_HOST = "address without a host"
NO_ARTICLE = "address of no article"
DATE_ASIDE = "date kept aside"  # followed by the date as it came
LANGUAGE_ASIDE = "language kept aside"  # the same


def clean(raw: RawFactCheck, *, source: str, clock: Callable[[], datetime] = system_clock) -> FactCheckRecord:
    """The record ready for the store. `source` names the space of its id where there is no URL.

    Cleaning what is clean changes nothing. Raises UnusableRecord where the claim is missing or the URL is none.
    """
    claim = line_of(raw.claim)
    if not claim:
        raise UnusableRecord("claim", "it is missing or empty")
    publisher = line_of(raw.publisher)
    url, key, flags = _identify(raw, source, claim, publisher)
    words = line_of(raw.rating)
    numbers = [tidy(number) for number in (raw.rating_value, raw.rating_best, raw.rating_worst)]
    rating = rate(words, *numbers)
    published_at = parse_date(tidy(raw.published_at), now=clock())
    return FactCheckRecord(
        key=key, url=url, claim=claim, title=line_of(raw.title), body=text_of(raw.body), publisher=publisher,
        author=line_of(raw.author), language=_language(raw.language), rating_given=words,
        rating_value=numbers[0] or None, rating_best=numbers[1] or None, rating_worst=numbers[2] or None,
        rating_score=rating.score, verdict=rating.verdict, published_at=published_at, aliases=_aliases(raw, key),
        rating_flags=(*rating.flags, *flags, *_notices(raw, published_at)),
    )  # fmt: skip


def _identify(raw: RawFactCheck, source: str, claim: str, publisher: str) -> tuple[str | None, str, tuple[str, ...]]:
    """URL, key and flags.

    The key is the canonical URL; of an address without a host (`/factchecks/1`) or an id, that behind the source's
    name; where there is neither, or the address is a site's front page, publisher and SHA-1 of the claim.
    """
    url = tidy(raw.url).replace("&amp;", "&")
    url = f"https:{url}" if url.startswith("//") else url
    if url.startswith("/"):
        return None, _bounded(f"{source}:{url.rstrip('/')}", "url"), (NO_HOST,)
    key = canonical_url(url)
    if url and key is None:
        raise UnusableRecord("url", f"{shorten(url, 100)!r} is no http(s) address")
    if key and ("/" in key or "?" in key):
        return url, _bounded(key, "url"), ()
    flags = (NO_ARTICLE,) if key else ()
    if identifier := one_line(raw.id):
        return url or None, _bounded(f"{source}:{identifier}", "id"), flags
    digest = hashlib.sha1(claim.casefold().encode()).hexdigest()
    return url or None, _bounded(f"{publisher or 'claim'}:{digest}", "publisher"), flags


def _bounded(key: str, field: str) -> str:
    if len(key.encode()) > _LONGEST_KEY:
        raise UnusableRecord(field, f"it is longer than {_LONGEST_KEY} bytes")
    return key


def _aliases(raw: RawFactCheck, key: str) -> tuple[str, ...]:
    """Other addresses of the article, canonical, sorted."""
    others = {alias for address in raw.aliases if (alias := canonical_url(address)) and "/" in alias}
    return tuple(sorted(others - {key}))


def _notices(raw: RawFactCheck, published_at: datetime | None) -> tuple[str, ...]:
    """What was changed or left out on the way, for those who wonder."""
    given = (raw.id, raw.url, raw.claim, raw.title, raw.body, raw.publisher, raw.author, raw.rating, raw.published_at)
    nul = (NUL_REMOVED,) if any("\0" in text for text in given) else ()
    date = one_line(raw.published_at) if published_at is None else ""
    language = one_line(raw.language) if not _primary_tag(raw.language) else ""
    aside = ((DATE_ASIDE, date), (LANGUAGE_ASIDE, language))
    return (*nul, *(f"{flag}: {shorten(text, 60)}" for flag, text in aside if text))


def _language(value: str) -> str:
    """The primary tag of a BCP 47 language, `en` of `en-GB`; empty if the value is none or says that it is unknown."""
    tag = _primary_tag(value)
    return "" if tag in _NO_LANGUAGE else tag


def _primary_tag(value: str) -> str:
    found = re.match(r"[a-zA-Z]{2,3}(?![a-zA-Z])", value.strip())
    return found[0].lower() if found else ""
