"""A plain first judge of stance: it recognises posts that debunk a claim, and abstains from everything else.

It never says SPREADING: that a post does not deny a claim is no proof that it endorses it.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from domain.match import Stance
from domain.text import one_line

_MODERN_QUOTES = str.maketrans("’‘ʼ", "'''")


@dataclass(frozen=True, slots=True)
class DebunkCues:
    """Phrases of all languages at once: each is particular enough that the language of a post need not be known."""

    debunks: re.Pattern[str]
    blocks: re.Pattern[str]

    def stance(self, post: str, claim: str, *, shares_fact_check: bool = False) -> Stance:
        """The stance of a post that is known to be about the claim.

        DEBUNKING if it shares the fact-check, or uses a debunking phrase that is neither turned around by another one
        ("the media hide that …") nor part of the claim itself ("there is no evidence that masks work").
        """
        if shares_fact_check:
            return Stance.DEBUNKING
        post = _plain(post)
        if not self.debunks.search(post) or self.blocks.search(post) or self.debunks.search(_plain(claim)):
            return Stance.UNJUDGED
        return Stance.DEBUNKING


@cache
def load_cues() -> DebunkCues:
    """The packaged phrase lists, `debunk_cues/<language>.toml`, compiled once a process."""
    debunks: list[str] = []
    blocks: list[str] = []
    for file in sorted(files("models.verification").joinpath("debunk_cues").iterdir(), key=lambda file: file.name):
        phrases = tomllib.loads(file.read_text(encoding="utf-8"))
        debunks += phrases["debunks"]
        blocks += phrases["blocks"]
    return DebunkCues(_any_of(debunks), _any_of(blocks))


def _any_of(phrases: list[str]) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(f"(?:{phrase.translate(_MODERN_QUOTES)})" for phrase in phrases) + ")")


def _plain(text: str) -> str:
    return one_line(text).lower().translate(_MODERN_QUOTES)
