"""What each platform's search accepts, written from its public reference; and which texts a query fits.

A parsed query is an AND of OR groups of phrases, each a tuple of words in lower case.
"""

import re
import unicodedata
from dataclasses import dataclass

Phrase = tuple[str, ...]
Parsed = list[list[Phrase]]

_TOKEN = re.compile(r'\+?"[^"]*"|[()]|[^\s()"]+|"')
_OPERATORS = {"and", "or", "not"}


class IllegalQuery(Exception):
    """The platform would refuse the query, or take a word of it for an operator."""


@dataclass(frozen=True)
class Accepts:
    characters: int
    conjunction: str | None = None  # a word that must stand between groups
    has_or: bool = True
    prefix: str = ""
    suffix: str = ""

    def parse(self, query: str) -> Parsed:
        if len(query) > self.characters:
            raise IllegalQuery(f"{len(query)} characters")
        if self.suffix and not query.endswith(self.suffix):
            raise IllegalQuery(f"lacks {self.suffix}")
        tokens = _TOKEN.findall(query.removesuffix(self.suffix))
        groups: Parsed = []
        place = 0
        while place < len(tokens):
            if groups and self.conjunction:
                if tokens[place] != self.conjunction:
                    raise IllegalQuery(f"{tokens[place]} where {self.conjunction} belongs")
                place += 1
            group, place = self._group(tokens, place)
            groups.append(group)
        if not groups:
            raise IllegalQuery("nothing but operators")
        return groups

    def _group(self, tokens: list[str], place: int) -> tuple[list[Phrase], int]:
        if place >= len(tokens):
            raise IllegalQuery("ends with an operator")
        if tokens[place] != "(":
            return [self._term(tokens[place])], place + 1
        if not self.has_or:
            raise IllegalQuery("there are no parentheses")
        terms, place = [self._term(tokens[place + 1])], place + 2
        while tokens[place : place + 1] == ["OR"]:
            terms.append(self._term(tokens[place + 1]))
            place += 2
        if tokens[place : place + 1] != [")"]:
            raise IllegalQuery("a parenthesis is left open")
        return terms, place + 1

    def _term(self, token: str) -> Phrase:
        if not token.startswith(self.prefix):
            raise IllegalQuery(f"{token} lacks {self.prefix}")
        token = token.removeprefix(self.prefix)
        if token.startswith('"'):
            words = token[1:-1].split(" ")
            if len(token) < 3 or not all(words):
                raise IllegalQuery(f"an empty phrase: {token}")
            bad = [c for word in words for c in word if not _is_letter(c) and c not in "'’\u200c\u200d"]
        else:
            words, bad = [token], [c for c in token if not _is_letter(c)]
            if token.lower() in _OPERATORS:
                raise IllegalQuery(f"a bare operator: {token}")
        if bad:
            raise IllegalQuery(f"{bad[0]!r} in {token}")
        return tuple(word.lower() for word in words)


def _is_letter(char: str) -> bool:
    return unicodedata.category(char)[0] in "LMN"


def words(text: str) -> list[str]:
    return "".join(c.lower() if _is_letter(c) or c in "'’" else " " for c in text).split()


def fits(parsed: Parsed, text: str) -> bool:
    found = words(text)
    return all(any(_contains(found, phrase) for phrase in group) for group in parsed)


def _contains(found: list[str], phrase: Phrase) -> bool:
    return any(tuple(found[i : i + len(phrase)]) == phrase for i in range(len(found) - len(phrase) + 1))


X = Accepts(512, suffix=" -is:retweet")
REDDIT = Accepts(512, conjunction="AND")
BLUESKY = Accepts(300, has_or=False)
STREAM = Accepts(4000, conjunction="AND")
MASTODON = Accepts(400, has_or=False, prefix="+")
BY_PLATFORM = {"x": X, "reddit": REDDIT, "bluesky": BLUESKY, "mastodon": MASTODON}
