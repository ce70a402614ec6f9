import numpy as np
import pytest

from domain.query import Arm, EndpointKind
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.learned.claim_words import all_words
from models.rewriting.learned.dense import LearnedDense, said_again
from models.rewriting.learned.term_weights import TermWeights
from models.rewriting.policy import QueryResult
from tests.unit.models.rewriting.learned.conftest import CLAIMS, DOCTOR, SILENT, claim, run


@pytest.fixture
def policy(dense_weights: TermWeights, statistics: WordFrequency) -> LearnedDense:
    return LearnedDense(dense_weights, statistics)


@pytest.mark.parametrize("text", CLAIMS)
def test_a_claim_is_one_query_that_says_the_claim_and_some_of_its_words_twice(policy: LearnedDense, text: str) -> None:
    (result,) = run(policy, claim(text))
    assert isinstance(result, QueryResult)
    query = result.query
    assert (query.kind, query.arm, query.policy) == (EndpointKind.DENSE, Arm.LEARNED, policy.name)
    again = [edit.word for edit in query.trail if edit.action == "say again"]
    said = [word.text for word in all_words(query.text)]
    for word in again:
        said.remove(word)
    assert sorted(said) == sorted(word.text for word in all_words(text))
    assert query.trail


def test_a_word_is_said_again_where_it_stands() -> None:
    text = "No-one sold land (in Corrie), see https://t.co/abc"
    words = all_words(text)
    logs = np.array([1.0 if word.text in ("sold", "Corrie") else 0.2 for word in words], dtype=np.float32)
    assert said_again(text, words, logs) == (
        "No-one sold sold land (in Corrie Corrie), see https://t.co/abc",
        ["sold", "Corrie"],
    )


def test_where_no_word_matters_the_claim_is_kept_as_it_is() -> None:
    words = all_words(DOCTOR)
    assert said_again(DOCTOR, words, np.zeros(len(words), dtype=np.float32)) == (DOCTOR, [])


@pytest.mark.parametrize("text", SILENT)
def test_a_claim_that_says_nothing_is_not_searched(policy: LearnedDense, text: str) -> None:
    assert policy.next(claim(text), ()) is None
