"""Ratings in our words: from a publisher's own words, or from a number on the publisher's own scale."""

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib import resources

from domain.fact_check import Verdict

_BOUNDS = ((0.25, Verdict.FALSE), (0.5, Verdict.MISLEADING), (0.75, Verdict.MIXED))
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")


@dataclass(frozen=True, slots=True)
class Rating:
    """`score` is 0 at the worst end of the publisher's scale and 1 at its best; None where the scale says nothing."""

    verdict: Verdict
    score: float | None
    flags: tuple[str, ...] = ()


def rate(words: str, value: str, best: str, worst: str) -> Rating:
    """The verdict of a rating. Words win over numbers; where they differ, a flag says so."""
    score, flags = score_on_scale(value, best, worst)
    from_words = verdict_of_words(words)
    from_score = _verdict_of_score(score)
    if from_words is None:
        return Rating(from_score or Verdict.UNKNOWN, score, flags)
    if from_score and _debunks(from_score) != _debunks(from_words):
        flags = (*flags, "number and words differ")
    return Rating(from_words, score, flags)


def score_on_scale(value: str, best: str, worst: str) -> tuple[float | None, tuple[str, ...]]:
    """(value - worst) / (best - worst) within 0 and 1, whichever end is the larger number, with what was assumed.

    Without a scale it is taken for 1 to 5, as schema.org says; a scale whose ends are equal says nothing.
    """
    given, top, bottom = _number(value), _number(best), _number(worst)
    if given is None:
        return None, ()
    flags: tuple[str, ...] = ()
    if top is None or bottom is None:
        top, bottom, flags = (5.0 if top is None else top), (1.0 if bottom is None else bottom), ("scale assumed 1–5",)
    if top == bottom:
        return None, flags
    score = (given - bottom) / (top - bottom)
    if not 0 <= score <= 1:
        flags = (*flags, "outside its scale")
    return min(max(score, 0.0), 1.0) + 0.0, flags  # + 0.0: no negative zero


def verdict_of_words(words: str) -> Verdict | None:
    """What a rating in words means; None if it says nothing that is known."""
    text = _plain(words)
    if not text:
        return None
    exact, phrases = _table()
    if text in exact:
        return exact[text]
    return next((verdict for phrase, verdict in phrases if f" {phrase} " in f" {text} "), None)


def _verdict_of_score(score: float | None) -> Verdict | None:
    if score is None:
        return None
    return next((verdict for bound, verdict in _BOUNDS if score <= bound), Verdict.TRUE)


def _debunks(verdict: Verdict) -> bool:
    return verdict in {Verdict.FALSE, Verdict.MISLEADING}


def _number(text: str) -> float | None:
    found = _NUMBER.fullmatch(text.strip())
    return float(found[0].replace(",", ".")) if found else None


@cache
def _table() -> tuple[dict[str, Verdict], list[tuple[str, Verdict]]]:
    """Whole ratings, and phrases in them with the longest first."""
    sections = tomllib.loads((resources.files("daemon.intake") / "verdicts.toml").read_text("utf-8"))
    exact = {_plain(word): Verdict(name) for name, section in sections.items() for word in section["exact"]}
    phrases = [(_plain(phrase), Verdict(name)) for name, section in sections.items() for phrase in section["phrases"]]
    return exact, sorted(phrases, key=lambda entry: -len(entry[0].split()))


def _plain(text: str) -> str:
    """Lower case words without accents and punctuation."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
    return " ".join(re.findall(r"\w+", bare.replace("_", " ")))
