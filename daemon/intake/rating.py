"""Ratings in our words: from a publisher's own words, or from a number on the publisher's own scale."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from domain.fact_check import DEBUNKED, Verdict
from domain.text import shorten

_NUMBER = re.compile(r"[+-]?\d{1,15}(?:[.,]\d{1,20})?")
_FRACTION = re.compile(r"\s*(\d{1,6}(?:[.,]\d{1,6})?)\s*/\s*(\d{1,6})\s*")  # 2/5
_REACH = 4  # words, a negation among them, before what it negates: "non è del tutto vero"

SCALE_ASSUMED = "scale assumed 1–5"
CLAMPED = "number outside its scale"
DISAGREE = "number and words differ"
NO_SCALE = "scale of one number"
RATING_ASIDE = "rating kept aside"  # followed by what is no number that can be used


@dataclass(frozen=True, slots=True)
class Rating:
    """`score` is 0 at the worst end of the publisher's scale and 1 at its best; None where the scale says nothing."""

    verdict: Verdict
    score: float | None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Words:
    """The word table, in plain words: `precedence` is the order of its sections, `known` finds the longest first."""

    verdicts: dict[str, Verdict]
    alone: dict[str, Verdict]
    precedence: tuple[Verdict, ...]
    known: re.Pattern[str]
    negation: re.Pattern[str]
    partly: re.Pattern[str]


def rate(words: str, value: str, best: str, worst: str) -> Rating:
    """The verdict of a rating. Words win over numbers; where only one of them calls it debunked, a flag says so."""
    if not value and (_FRACTION.fullmatch(words) or (best and worst and _number(words) is not None)):
        words, value = "", words
    score, flags = score_on_scale(value, best, worst)
    from_words, from_score = verdict_of_words(words), _verdict_of_score(score)
    if from_words is None:
        return Rating(from_score or Verdict.UNKNOWN, score, flags)
    if from_score and (from_score in DEBUNKED) != (from_words in DEBUNKED):
        flags = (*flags, DISAGREE)
    return Rating(from_words, score, flags)


def score_on_scale(value: str, best: str, worst: str) -> tuple[float | None, tuple[str, ...]]:
    """(value - worst) / (best - worst) within 0 and 1, whichever end is the larger number, with what was assumed.

    Without a scale it is taken for 1 to 5, as schema.org says, unless the number then lies outside. A scale whose ends
    are equal says nothing. `2/5` brings its scale along.
    """
    if fraction := _FRACTION.fullmatch(value):
        return _score_of_fraction(fraction[1], fraction[2], worst)
    given, top, bottom = _number(value), _number(best), _number(worst)
    aside = _aside(text for text in (value, best, worst) if text and _number(text) is None) if value else ()
    if given is None:
        return None, aside
    assumed = (*aside, SCALE_ASSUMED) if top is None or bottom is None else ()
    top, bottom = 5.0 if top is None else top, 1.0 if bottom is None else bottom
    if top == bottom:
        return None, (*assumed, NO_SCALE)
    score = (given - bottom) / (top - bottom)
    if 0 <= score <= 1:
        return score + 0.0, assumed  # + 0.0: no negative zero
    return None if assumed else min(max(score, 0.0), 1.0), (*assumed, CLAMPED)


def _score_of_fraction(value: str, best: str, worst: str) -> tuple[float | None, tuple[str, ...]]:
    """The score of `value/best`; its worst end, if it is not given, is 1, or 0 for a number below 1."""
    given, top = _number(value) or 0.0, _number(best) or 0.0
    if not 0 < top >= given:
        return None, _aside([f"{value}/{best}"])
    return score_on_scale(value, best, worst or ("1" if given >= 1 else "0"))


def _aside(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{RATING_ASIDE}: {shorten(text, 60)}" for text in texts)


def is_unread(words: str, value: str | None, verdict: Verdict) -> bool:
    """Whether a rating was given and says nothing that we know; of "unproven" we know that it is unknown."""
    return verdict is Verdict.UNKNOWN and bool(words or value) and verdict_of_words(words) is None


@lru_cache(maxsize=4096)
def verdict_of_words(words: str) -> Verdict | None:
    """What a rating in words means; None if it says nothing that is known. How is told in verdicts.toml."""
    text, table = _plain(words), _table()
    if text in table.alone:
        return table.alone[text]
    found = set(_meanings(text, table))
    return next((verdict for verdict in table.precedence if verdict in found), None)


def _meanings(text: str, table: _Words) -> Iterator[Verdict]:
    """The verdict of each known phrase, a negation between it and the phrase before taken into account."""
    end = 0
    for match in table.known.finditer(text):
        verdict, before = table.verdicts[match[0]], text[end : match.start()].split()
        end = match.end()
        if verdict in DEBUNKED and table.negation.search(" ".join(before[-2:])):
            yield Verdict.UNKNOWN
        elif verdict is Verdict.TRUE and (negated := table.negation.search(near := " ".join(before[-_REACH:]))):
            yield Verdict.MISLEADING if table.partly.search(near, negated.end()) else Verdict.FALSE
        else:
            yield verdict


def _verdict_of_score(score: float | None) -> Verdict | None:
    """On a scale of five: 1 and 2 are false, 3 is mixed, 4 and 5 are true."""
    if score is None:
        return None
    if score <= 0.25:
        return Verdict.FALSE
    if score < 0.5:
        return Verdict.MISLEADING
    return Verdict.MIXED if score < 0.75 else Verdict.TRUE


def _number(text: str) -> float | None:
    found = _NUMBER.fullmatch(text.strip())
    return float(found[0].replace(",", ".")) if found else None


@cache
def _table() -> _Words:
    sections = tomllib.loads((resources.files("daemon.intake") / "verdicts.toml").read_text("utf-8"))
    negation, alone = sections.pop("negation"), sections.pop("alone")
    verdicts: dict[str, Verdict] = {}
    for name, section in sections.items():
        for word in section["words"]:
            verdicts.setdefault(_plain(word), Verdict(name))
    return _Words(
        verdicts=verdicts,
        alone={_plain(word): Verdict(name) for word, name in alone.items()},
        precedence=tuple(map(Verdict, sections)),
        known=_any_of(verdicts),
        negation=_any_of(map(_plain, negation["words"])),
        partly=_any_of(map(_plain, negation["partly"])),
    )


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")


def _plain(text: str) -> str:
    """Lower case words without accents and punctuation."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return " ".join(re.findall(r"\w+", bare.replace("_", " ")))
