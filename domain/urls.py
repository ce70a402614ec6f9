"""The canonical form of an article's address, so that one article is one fact-check."""

import re
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

_TRACKING = re.compile(
    r"^(utm_\w+|fbclid|gclid|dclid|gbraid|wbraid|msclkid|mc_cid|mc_eid|igshid|igsh|twclid|yclid|_ga|_gl|"
    r"ref|ref_src|ref_url|cmpid|ocid|amp|outputtype|output|share|smid|soc_src|soc_trk|at_\w+|xtor)$",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://[^\s<>\"'\u201c\u201d]+", re.IGNORECASE)


def canonical_url(url: str) -> str | None:
    """Address without scheme, www, AMP marks, tracking parameters, fragment and trailing slash.

    None if it is no http(s) address with a host. Parameters that name the page (`?id=79489`) stay, in sorted order.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in {"http", "https"} or not host or "." not in host:
        return None
    host = re.sub(r"^(www\d?|m|mobile|amp)\.", "", host.lower().rstrip("."))
    if port not in {None, 80, 443}:
        host = f"{host}:{port}"
    return host + _canonical_path(parts.path) + _canonical_query(parts.query)


def _canonical_path(path: str) -> str:
    path = re.sub(r"/{2,}", "/", unquote(path))
    path = re.sub(r"(?i)^/amp(?=/)|/amp/?$|\.amp(?=\.html?$|$)", "", path)
    return path.rstrip("/")


def _canonical_query(query: str) -> str:
    kept = sorted((k, v) for k, v in parse_qsl(query, keep_blank_values=True) if not _TRACKING.match(k))
    return "?" + urlencode(kept) if kept else ""


def links_in(text: str) -> tuple[str, ...]:
    """http(s) addresses written in a text, in order, without the punctuation that follows them."""
    return tuple(dict.fromkeys(u.rstrip(".,;:!?)]}…»") for u in _URL.findall(text)))
