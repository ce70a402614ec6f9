"""One normal form for every text that enters: HTML entities decoded once, NFC, no NUL, no stray controls."""

import html
import re
import unicodedata

# C0 and C1 controls except tab and line feed, lone surrogates, and the byte order mark; zero-width joiners stay,
# since emoji and several scripts need them.
_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")
_SPACES = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u205f\u3000]+")


def normalise(text: str) -> str:
    """The text in normal form, line breaks kept (at most one blank line), outer white space gone."""
    text = html.unescape(text).replace("\r\n", "\n").replace("\r", "\n")
    text = unicodedata.normalize("NFC", _UNWANTED.sub("", text))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def one_line(text: str) -> str:
    """The text in normal form with every run of white space as one space."""
    return " ".join(normalise(text).split())


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a word where there is one, with an ellipsis."""
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
