"""The policies as they are wired: by name, kind of endpoint and language, with the packaged weights."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from domain.errors import BadInput
from domain.fact_check import Claim
from domain.ids import FactCheckId
from domain.query import Arm, EndpointKind, Query
from models.rewriting.policies import LEARNED, rewriter
from models.rewriting.policy import Count, CountResult, History, QueryResult, Rewriter

CLAIM = "The doctor's 5G chips killed thousands of people in Paris."
QUERIES = 4


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Any vectors of unit length will do, each text its own."""
    vectors = np.array([np.random.default_rng(len(text)).normal(size=8) for text in texts], dtype=np.float32)
    unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def policy(
    kind: EndpointKind = EndpointKind.BOOLEAN,
    language: str = "en",
    *,
    name: str = LEARNED,
    counts: bool = False,
    control: float = 0.0,
) -> Rewriter:
    return rewriter(
        name, kind=kind, language=language, encode=encode, queries=QUERIES, reads=100, counts=counts, control=control
    )


def asked(given: Rewriter, text: str, language: str = "en") -> tuple[list[Query], int]:
    """Queries, and how many counts came before."""
    history: History = ()
    while step := given.next(Claim(FactCheckId(1), text, language), history):
        history += (CountResult(step.query, 2) if isinstance(step, Count) else QueryResult(step, 1, 1),)
        assert len(history) < 200, "does not stop"
    return [r.query for r in history if isinstance(r, QueryResult)], sum(isinstance(r, CountResult) for r in history)


@pytest.mark.parametrize("kind", list(EndpointKind))
def test_each_kind_is_sent_queries_of_its_kind(kind: EndpointKind) -> None:
    queries, _ = asked(policy(kind), CLAIM)
    assert 1 <= len(queries) <= QUERIES
    assert {query.kind for query in queries} == {kind}


@pytest.mark.parametrize("kind", [EndpointKind.BOOLEAN, EndpointKind.RANKED])
def test_the_learned_policy_asks_in_its_own_name(kind: EndpointKind) -> None:
    given = policy(kind)
    queries, _ = asked(given, CLAIM)
    assert {(query.policy, query.arm) for query in queries} == {(given.name, Arm.LEARNED)}
    assert "@" in given.name


def test_counts_are_asked_only_where_a_platform_tells_them_for_nothing() -> None:
    assert asked(policy(counts=False), CLAIM)[1] == 0
    queries, counts = asked(policy(counts=True), CLAIM)
    assert counts > 0
    assert queries
    assert asked(policy(EndpointKind.RANKED, counts=True), CLAIM)[1] == 0


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("疫苗会改变人类的DNA", "zh"),
        ("Die Impfung verändert das Erbgut der Menschen dauerhaft", "de"),
        ("El agua del grifo está prohibida", "es"),
        ("vaccins 5G puces", "und"),
    ],
)
@pytest.mark.parametrize("kind", list(EndpointKind))
def test_a_claim_in_another_language_gets_key_phrases_and_is_told_why(
    text: str, language: str, kind: EndpointKind
) -> None:
    queries, _ = asked(policy(kind, language), text, language)
    assert queries
    for query in queries:
        assert query.policy.startswith("keyphrases")
        assert query.arm is Arm.PLAIN
        assert str(query.trail[0]) == f"the learned policy does not know {language!r}"


@pytest.mark.parametrize("text", ["", "Is it not? The of and", "🚰🚰🚰"])
@pytest.mark.parametrize("counts", [False, True])
@pytest.mark.parametrize("kind", list(EndpointKind))
def test_a_claim_that_says_nothing_asks_nothing(kind: EndpointKind, counts: bool, text: str) -> None:
    assert policy(kind, counts=counts, control=0.5).next(Claim(FactCheckId(1), text, "en"), ()) is None


@pytest.mark.parametrize("kind", [EndpointKind.BOOLEAN, EndpointKind.RANKED])
def test_the_whole_budget_may_be_left_to_key_phrases(kind: EndpointKind) -> None:
    queries, _ = asked(policy(kind, control=1.0), CLAIM)
    assert {query.policy for query in queries} == {"keyphrases@1"}


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(BadInput, match="learned, claim, keyphrases, rarest"):
        policy(name="clever")


@pytest.mark.parametrize("name", ["claim", "keyphrases", "rarest"])
def test_plain_policies_are_had_by_name(name: str) -> None:
    assert policy(name=name).name == f"{name}@1"
