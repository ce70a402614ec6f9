"""One normal form for every text that enters: HTML entities decoded once, NFC, no NUL, no stray controls."""

import html
import re
import unicodedata
from html.entities import html5

_LINE_ENDS = re.compile(r"[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# C0 and C1 controls, lone surrogates, and marks that show nothing but split a word or turn the text around it: soft
# hyphen, zero-width space, byte order mark, bidirectional embeddings. Zero-width joiners stay, since emoji and several
# scripts need them.
_UNWANTED = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ud800-\udfff\ufeff]"
)
_SPACES = re.compile(r"[\t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_RUN_OF_SPACES = re.compile(r"  +")
_BLANK_LINES = re.compile(r"\n\n\n+")
# Only whole references: in an address, `&section=3` holds none.
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def normalise(text: str) -> str:
    """The text in normal form with HTML entities decoded, once: for what comes from outside."""
    return tidy(_REFERENCE.sub(_decoded, text) if "&" in text else text)


def tidy(text: str) -> str:
    """The text in normal form, line breaks kept (at most one blank line), outer white space gone.

    Entities stay as they are, so doing it twice changes nothing.
    """
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()  # nearly every text: the rest would find nothing to do
    text = _UNWANTED.sub("", _LINE_ENDS.sub("\n", text.replace("\r\n", "\n")))
    text = _RUN_OF_SPACES.sub(" ", _SPACES.sub(" ", unicodedata.normalize("NFC", text)))
    return _BLANK_LINES.sub("\n\n", text.replace(" \n", "\n").replace("\n ", "\n")).strip()


def _decoded(reference: re.Match[str]) -> str:
    name = reference[0][1:]
    return html.unescape(reference[0]) if name.startswith("#") else html5.get(name, reference[0])


def one_line(text: str) -> str:
    """The text tidied, with every run of white space as one space; entities stay as they are."""
    return " ".join(tidy(text).split())


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a word where there is one, with an ellipsis; none if the limit is none."""
    if limit < 1:
        return ""
    text = one_line(text)
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    at_word = cut.rsplit(" ", 1)[0]
    return (at_word if len(at_word) > limit // 2 else cut) + "…"


def has_words(text: str) -> bool:
    """Whether a letter or digit is left once links, handles and bare tag marks are taken out."""
    return bool(re.search(r"[^\W_]", without_links_and_handles(text)))


def without_links_and_handles(text: str) -> str:
    """The text without URLs and @handles; hashtags keep their word."""
    return re.sub(r"https?://\S+|www\.\S+|@[\w.]+", " ", text)
