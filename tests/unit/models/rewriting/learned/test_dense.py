import pytest

from domain.query import Arm, EndpointKind
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.learned.claim_words import all_words
from models.rewriting.learned.dense import LearnedDense
from models.rewriting.learned.term_weights import TermWeights
from models.rewriting.policy import QueryResult
from tests.unit.models.rewriting.learned.conftest import CLAIMS, SILENT, claim, run


@pytest.fixture
def policy(term_weights: TermWeights, statistics: WordFrequency) -> LearnedDense:
    return LearnedDense(term_weights, statistics)


@pytest.mark.parametrize("text", CLAIMS)
def test_a_claim_is_one_query_that_begins_with_the_claim_and_says_some_of_its_words_again(
    policy: LearnedDense, text: str
) -> None:
    (result,) = run(policy, claim(text))
    assert isinstance(result, QueryResult)
    query = result.query
    assert (query.kind, query.arm, query.policy) == (EndpointKind.DENSE, Arm.LEARNED, policy.name)
    whole = " ".join(text.split())
    assert query.text.startswith(whole)
    again = query.text[len(whole) :].split()
    assert set(again) <= {word.text for word in all_words(text)}
    assert [edit.word for edit in query.trail if edit.action == "say again"] == again
    assert query.trail


@pytest.mark.parametrize("text", SILENT)
def test_a_claim_that_says_nothing_is_not_searched(policy: LearnedDense, text: str) -> None:
    assert policy.next(claim(text), ()) is None
