"""The policies by name, for a kind of endpoint and a language."""

from functools import cache
from typing import TYPE_CHECKING

from domain.query import EndpointKind
from models.retrieval.word_frequency import WordFrequency
from models.rewriting import plain
from models.rewriting.control import WithControl
from models.rewriting.plain import Encode
from models.rewriting.policy import Rewriter
from models.rewriting.tagging import supports

if TYPE_CHECKING:
    from models.rewriting.learned.retention import Retention
    from models.rewriting.learned.term_weights import TermWeights

LEARNED = "learned"


def rewriter(
    name: str, *, kind: EndpointKind, language: str, encode: Encode, queries: int, reads: int,
    counts: bool = False, control: float = 0.0,
) -> Rewriter:  # fmt: skip
    """The policy of a name: learned, claim, keyphrases or rarest. Raises BadInput for another, and BadArtifact where
    the learned one's weights cannot be used.

    `queries` a claim of `reads` posts each, of which the learned policy leaves the share `control` to key phrases;
    `counts`: whether the platform tells for nothing how many posts a query finds. It knows English; another language
    gets key phrases alone.
    """
    statistics = WordFrequency(language)
    if name != LEARNED:
        return plain.rewriter(name, kind=kind, statistics=statistics, encode=encode)
    if not supports(language):
        return plain.Keyphrases(kind, statistics, encode, because=f"the learned policy does not know {language!r}")
    return WithControl(
        _learned(kind, statistics, queries, reads, counts), plain.Keyphrases(kind, statistics, encode), queries, control
    )


def _learned(kind: EndpointKind, statistics: WordFrequency, queries: int, reads: int, counts: bool) -> Rewriter:
    if kind is EndpointKind.BOOLEAN:
        from models.rewriting.learned.boolean import LearnedBoolean
        from models.rewriting.learned.counting import LearnedCounting
        from models.rewriting.learned.outlook import Foreseer

        policy = LearnedCounting if counts else LearnedBoolean
        return policy(Foreseer(_retention(), statistics), queries, reads)
    from models.rewriting.learned.dense import LearnedDense
    from models.rewriting.learned.ranked import LearnedRanked

    learned = LearnedRanked if kind is EndpointKind.RANKED else LearnedDense
    return learned(_term_weights(kind), statistics)


@cache
def _retention() -> "Retention":
    """One for all connectors: each holds an encoder."""
    from models.rewriting.learned.retention import Retention

    return Retention.load()


@cache
def _term_weights(kind: EndpointKind) -> "TermWeights":
    from models.rewriting.learned.term_weights import TermWeights

    return TermWeights.load(kind)
