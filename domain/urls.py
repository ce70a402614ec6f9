"""The canonical form of an article's address, so that one article is one fact-check."""

import re
import unicodedata
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from domain.text import tidy

_TRACKING = re.compile(
    r"utm_\w+|mtm_\w+|pk_\w+|hsa_\w+|at_\w+|fb_\w+|guce_\w+|_hs\w+|fbclid|gclid|dclid|gbraid|wbraid|msclkid|twclid|yclid|"
    r"mc_cid|mc_eid|mkt_tok|igshid|igsh|mibextid|srsltid|_ga|_gl|ref|ref_src|ref_url|cmpid|ocid|ncid|s_cid|smid|soc_src|"
    r"soc_trk|xtor|wt_mc|guccounter|__twitter_impression|share|replytocom|amp",
    re.IGNORECASE,
)
_AMP_SWITCH = re.compile(r"output|outputtype", re.IGNORECASE)  # tracking only where its value is "amp"
# Copies that caches of AMP pages serve: the article's own address stands in the path.
_AMP_CACHE = re.compile(
    r"https?://(?:(?:www\.)?google\.[a-z.]+/amp|[\w-]+\.cdn\.ampproject\.org/[a-z])/(?:s/)?(?=[^/]+\.)", re.IGNORECASE
)
_DEVICE_HOST = re.compile(r"^(?:(?:www\d?|m|mobile|amp)\.)+(?=[^.]+\.)")
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")
_AMP_PATH = re.compile(r"^/amp(?=/)|/amp/?$|\.amp(?=\.html?$|$)", re.IGNORECASE)
_DIRECTORY_PAGE = re.compile(r"/index\.(?:html?|php)$", re.IGNORECASE)
_RESERVED = frozenset('"#%<>?[\\]^`{|}')
_URL = re.compile(r"https?://[^\s<>\"'\u201c\u201d。，！？；：（）「」『』【】《》،؟؛]+", re.IGNORECASE)
_BRACKETS = {")": "(", "]": "[", "}": "{"}


def canonical_url(url: str) -> str | None:
    """Address without scheme, www, AMP marks, tracking parameters, fragment and trailing slash.

    None if it is no http(s) address with a host. Hosts are in their ASCII form, percent-encoding only where it is
    needed. Parameters that name the page (`?id=79489`) stay, in sorted order. With `https://` put before it, the result
    is an address of the same canonical form.
    """
    canonical = _canonical(_out_of_cache(tidy(url)))
    while canonical and (inner := _out_of_cache(f"https://{canonical}")) != f"https://{canonical}":
        canonical = _canonical(inner)
    return canonical


def _out_of_cache(url: str) -> str:
    while cached := _AMP_CACHE.match(url):
        url = "https://" + url[cached.end() :]
    return url


def _canonical(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        host, port = _canonical_host(parts.hostname or ""), parts.port
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or host is None:
        return None
    if port not in {None, 80, 443}:
        host = f"{host}:{port}"
    return host + _canonical_path(parts.path) + _canonical_query(parts.query)


def _canonical_host(host: str) -> str | None:
    """The host in ASCII; raises ValueError where an international name has no such form."""
    if not host.isascii():
        host = host.encode("idna").decode().lower()
    host = host.rstrip(".")
    return _DEVICE_HOST.sub("", host) if _HOST.fullmatch(host) else None


def _canonical_path(path: str) -> str:
    path = unicodedata.normalize("NFC", unquote(path, errors="surrogateescape"))
    before = None
    while path != before:
        before = path
        path = re.sub(r"/{2,}", "/", path)
        path = _DIRECTORY_PAGE.sub("", _AMP_PATH.sub("", path)).rstrip("/")
    return "".join(map(_escaped, path))


def _escaped(char: str) -> str:
    """A character as it may stand in a path; one that cannot be seen, or would end the path, percent-encoded."""
    if char.isprintable() and char != " " and char not in _RESERVED:
        return char
    return quote(char, errors="surrogateescape")


def _canonical_query(query: str) -> str:
    kept = sorted((k, v) for k, v in parse_qsl(query, keep_blank_values=True) if not _is_tracking(k, v))
    return "?" + urlencode(kept) if kept else ""


def _is_tracking(name: str, value: str) -> bool:
    return bool(_TRACKING.fullmatch(name) or (_AMP_SWITCH.fullmatch(name) and value.lower() == "amp"))


def links_in(text: str) -> tuple[str, ...]:
    """http(s) addresses written in a text, in order, without the punctuation that follows them."""
    found = map(_without_trailing_punctuation, _URL.findall(text))
    return tuple(dict.fromkeys(url for url in found if not url.endswith("://")))


def _without_trailing_punctuation(url: str) -> str:
    """A closing bracket belongs to the address only if the address opens it."""
    while url[-1] in ".,;:!?…»*|" or (url[-1] in _BRACKETS and url.count(url[-1]) > url.count(_BRACKETS[url[-1]])):
        url = url[:-1]
    return url
