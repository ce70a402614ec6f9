"""A post matched to a fact-check, with how sure we are and why."""

from dataclasses import dataclass
from enum import StrEnum


class Stance(StrEnum):
    """What a matched post does with the claim. UNJUDGED until a verifier has looked."""

    SPREADING = "spreading"
    DEBUNKING = "debunking"
    RELATED = "related"
    UNJUDGED = "unjudged"


class MatchReason(StrEnum):
    """Why a post was, or was not, matched."""

    TEXT = "text"  # the rankers found the claim in its words
    LINK = "shares the fact-check"  # it links the article itself
    NONE_FITS = "no fact-check fits"
    NO_TEXT = "no text"


@dataclass(frozen=True, slots=True)
class Match:
    """`sentence` is the sentence of the article (or claim, or title) that matched best, `passage` what of a long post
    it matched, cleaned; empty where that is all of a post, or its link."""

    fact_check_key: str
    confidence: float
    reason: MatchReason
    stance: Stance
    sentence: str
    scores: dict[str, float]
    model: str
    passage: str = ""
