"""The text in a piece of HTML, or of a plain text that may hold some."""

import re
from collections.abc import Iterator
from typing import Any

from domain.text import normalise

# Only names of real elements count: "a <b and c> d" of a plain text is no markup, and neither is <name@host.example>.
_MARKUP = re.compile(
    r"</?(?:abbr|article|aside|audio|b|blockquote|body|br|button|center|cite|code|dd|del|details|div|dl|dt|em|embed|"
    r"figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|label|li|link|main|mark|meta|"
    r"nav|noscript|object|ol|p|picture|pre|q|s|script|section|small|source|span|strike|strong|style|sub|summary|sup|svg|"
    r"table|tbody|td|template|tfoot|th|thead|time|title|tr|u|ul|video|wbr|a)(?:\s[^<>]*=[^>]*)?\s*/?>|<!--|<!\[CDATA\[",
    re.IGNORECASE,
)
_PARAGRAPHS = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "table", "ul", "ol", "dl", "hr"})
_LINES = frozenset(
    {"address", "article", "aside", "br", "dd", "div", "dt", "figcaption", "figure", "footer", "form", "header", "li"}
    | {"main", "nav", "section", "td", "th", "tr"}
)
_UNSEEN = frozenset({"script", "style", "template", "noscript", "iframe", "head", "svg"})
_LINE, _PARAGRAPH = "\x01", "\x02"  # stand where a break belongs until neighbouring breaks are joined
_BREAK = re.compile(rf"\s*[{_LINE}{_PARAGRAPH}][\s{_LINE}{_PARAGRAPH}]*")
_NO_HTML = re.compile(r"[\x00-\x08\x0e-\x1f]|<!\[CDATA\[|\]\]>")
_LONE_LINE_END = re.compile(r"(?<!\n)\n(?!\n)")
_MOST_LAYERS = 10  # of escaping; three have been seen


def text_of(value: str) -> str:
    """The text in normal form, without markup, entities decoded however often they were encoded.

    Rows in the table are cleaned whenever they change, also those that were cleaned before: cleaning a clean text
    therefore changes nothing.
    """
    for _ in range(_MOST_LAYERS):
        cleaned = normalise(_without_markup(value) if _MARKUP.search(value) else value)
        done = cleaned == value or not ("<" in cleaned or "&" in cleaned)
        value = cleaned
        if done:
            break
    return value


def line_of(value: str) -> str:
    """The same in one line."""
    return " ".join(text_of(value).split())


def _without_markup(value: str) -> str:
    """The text of an HTML fragment, entities decoded; paragraphs become blank lines, other blocks line ends."""
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    markup = f"<html><body><span>{_NO_HTML.sub('', value)}</span></body></html>".encode(errors="ignore")
    try:
        root = html.document_fromstring(markup, parser=parser)
    except etree.LxmlError:
        return _MARKUP.sub(" ", value)
    text = "".join(_pieces(root))
    if _BREAK.search(text):
        text = _LONE_LINE_END.sub(" ", text)  # between blocks it is only how the source is laid out
    return _BREAK.sub(lambda found: "\n\n" if _PARAGRAPH in found[0] else "\n", text)


def _pieces(root: Any) -> Iterator[str]:
    """The texts that are shown, in order, with marks where a block begins and ends."""
    from lxml import etree

    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start" and element.tag in _UNSEEN:
            walk.skip_subtree()
        elif event == "start":
            yield _mark(element.tag) + (element.text or "")
        else:
            yield (_mark(element.tag) if event == "end" else "") + (element.tail or "")


def _mark(tag: str) -> str:
    return _PARAGRAPH if tag in _PARAGRAPHS else _LINE if tag in _LINES else ""
