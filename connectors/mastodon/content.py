"""The HTML of a status as text with its links: paragraphs stay apart, hidden halves of addresses are joined again."""

from html.parser import HTMLParser

from domain.text import tidy


def text_and_links(content: str) -> tuple[str, tuple[str, ...]]:
    """Text in normal form, and the addresses that are linked, mentions and hashtags aside."""
    reader = _Content()
    reader.feed(content)
    reader.close()
    return tidy("".join(reader.pieces)), tuple(dict.fromkeys(reader.links))


class _Content(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "br":
            self.pieces.append("\n")
        elif tag in {"p", "blockquote", "ul", "ol", "pre"} and self.pieces:
            self.pieces.append("\n\n")
        elif tag == "li":
            self.pieces.append("\n")
        names = set((given.get("class") or "").split())
        if tag == "a" and not names & {"mention", "hashtag"} and (address := given.get("href")):
            self.links.append(address)

    def handle_endtag(self, tag: str) -> None:
        if tag in {"p", "blockquote", "ul", "ol", "pre"}:
            self.pieces.append("\n\n")

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)
