import numpy as np
import pytest

from domain.query import Arm, EndpointKind
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.learned.claim_words import all_words
from models.rewriting.learned.ranked import LearnedRanked
from models.rewriting.learned.term_weights import PARTS, STRENGTH, TermWeights, settled, to_weights
from models.rewriting.policy import QueryResult
from tests.unit.models.rewriting.learned.conftest import CLAIMS, DOCTOR, SILENT, claim, run


@pytest.fixture
def policy(term_weights: TermWeights, statistics: WordFrequency) -> LearnedRanked:
    return LearnedRanked(term_weights, statistics)


@pytest.mark.parametrize("text", CLAIMS)
def test_a_claim_is_one_query_of_its_words_in_their_order(policy: LearnedRanked, text: str) -> None:
    (result,) = run(policy, claim(text))
    assert isinstance(result, QueryResult)
    query = result.query
    assert (query.kind, query.arm, query.policy) == (EndpointKind.RANKED, Arm.LEARNED, policy.name)
    assert [term.text for (term,) in query.groups] == [word.text for word in all_words(text)]


@pytest.mark.parametrize("text", CLAIMS)
def test_weights_are_positive_twentieths_that_the_trail_tells(policy: LearnedRanked, text: str) -> None:
    query = policy.query(claim(text))
    assert query is not None
    weights = np.array([term.weight for (term,) in query.groups])
    assert (weights > 0).all()
    assert (weights == np.rint(weights * PARTS) / PARTS).all()
    told = {(edit.action, edit.word, edit.result) for edit in query.trail}
    for (term,) in query.groups:
        if term.weight != 1:
            assert ("more" if term.weight > 1 else "less", term.text, f"× {term.weight:g}") in told


def test_words_that_all_count_as_they_are_leave_the_claims_words(
    policy: LearnedRanked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TermWeights, "weigh", lambda self, text, words, statistics: np.zeros(len(words), np.float32))
    query = policy.query(claim("The tap water: banned!"))
    assert query is not None
    assert query.text == "The tap water banned"
    assert [str(edit) for edit in query.trail] == ["keep the claim as it is"]


@pytest.mark.parametrize("text", SILENT)
def test_a_claim_that_says_nothing_is_not_searched(policy: LearnedRanked, text: str) -> None:
    assert policy.next(claim(text), ()) is None


def test_the_same_claim_gives_the_same_query(policy: LearnedRanked) -> None:
    first = policy.next(claim(DOCTOR), ())
    policy.next(claim(CLAIMS[1]), ())
    assert policy.next(claim(DOCTOR), ()) == first


def test_weights_are_nearer_to_one_than_what_was_learned_in_twentieths_and_one_word_stays() -> None:
    logs = np.log(np.array([0.25, 0.31, 1.1, 1.4], dtype=np.float32))
    assert settled((logs / STRENGTH).astype(np.float32)).tolist() == [0.25, 0.3, 1.1, 1.4]
    assert (abs(np.log(settled(logs))) < abs(logs)).all()
    assert settled(np.array([-1e9, -1e9], dtype=np.float32)).tolist() == [0.05, 0.05]
    assert settled(np.array([], dtype=np.float32)).tolist() == []


def test_a_logarithm_of_nothing_is_a_weight_of_one_and_extremes_are_bounded() -> None:
    import torch

    weights = to_weights(torch.tensor([0.0, -1e9, 1e9])).tolist()
    assert weights[0] == 1
    assert 0 < weights[1] < 0.1
    assert 1 < weights[2] < 10
