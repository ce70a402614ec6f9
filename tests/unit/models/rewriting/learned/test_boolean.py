import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from domain.query import Arm, EndpointKind, Query, all_words_query
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.boolean_edits import BooleanEdits
from models.rewriting.learned.boolean import LearnedBoolean
from models.rewriting.learned.outlook import Foreseer
from models.rewriting.learned.patterns import MOST_IN_QUERY
from models.rewriting.policy import QueryResult
from models.rewriting.tagging import tag
from models.rewriting.words import content_words
from tests.unit.models.rewriting.learned.conftest import (
    CLAIMS,
    DOCTOR,
    SILENT,
    Answer,
    claim,
    nothing,
    run,
    something,
    stems_of,
)

MOST = 4
READS = 25


@pytest.fixture
def policy(foreseer: Foreseer) -> LearnedBoolean:
    return LearnedBoolean(foreseer, MOST, READS)


def queries(policy: LearnedBoolean, text: str, answer: Answer) -> list[Query]:
    return [result.query for result in run(policy, claim(text), answer=answer)]


@pytest.mark.parametrize("answer", [nothing, something])
@pytest.mark.parametrize("text", CLAIMS)
def test_queries_are_distinct_and_never_more_than_it_may_ask(policy: LearnedBoolean, text: str, answer: Answer) -> None:
    asked = queries(policy, text, answer)
    assert 1 <= len(asked) <= MOST
    assert len({stems_of(query) for query in asked}) == len(asked)


@pytest.mark.parametrize("text", CLAIMS)
def test_queries_are_made_of_the_claims_content_words(policy: LearnedBoolean, text: str) -> None:
    allowed = {word.lower() for word in content_words(text, "en")}
    for query in queries(policy, text, nothing):
        assert stems_of(query) <= allowed
        assert 1 <= len(query.groups) <= MOST_IN_QUERY
        assert (query.kind, query.arm, query.policy) == (EndpointKind.BOOLEAN, Arm.LEARNED, policy.name)
        assert query.worth is not None
        assert 0 < query.worth <= 1


@pytest.mark.parametrize("text", SILENT)
def test_a_claim_that_says_nothing_is_not_searched(policy: LearnedBoolean, text: str) -> None:
    assert policy.next(claim(text), ()) is None
    assert policy.plan(claim(text)) == []


def test_one_word_is_one_query(policy: LearnedBoolean) -> None:
    assert [str(query) for query in queries(policy, "vaccine", nothing)] == ["vaccine"]


def test_the_same_claim_and_history_give_the_same_query_whatever_was_asked_between(
    policy: LearnedBoolean, foreseer: Foreseer
) -> None:
    history = run(policy, claim(DOCTOR), answer=something)
    policy.next(claim(CLAIMS[1]), ())
    again = LearnedBoolean(Foreseer(foreseer.retention, foreseer.statistics), MOST, READS)
    for end, result in enumerate(history):
        assert policy.next(claim(DOCTOR), history[:end]) == again.next(claim(DOCTOR), history[:end]) == result.query


def test_the_trail_leads_from_the_claim_to_the_same_query(policy: LearnedBoolean, statistics: WordFrequency) -> None:
    for text in CLAIMS:
        (tokens,) = tag([text])
        for query in queries(policy, text, nothing):
            state = BooleanEdits(statistics, guarded=True).replay(tokens, query.trail)
            assert replace(state.query(policy=policy.name), worth=query.worth) == query


@pytest.mark.parametrize("text", CLAIMS[:3])
def test_after_an_empty_result_no_narrower_query_is_asked(policy: LearnedBoolean, text: str) -> None:
    asked = queries(policy, text, nothing)
    assert len(asked) > 1
    for number, query in enumerate(asked):
        assert not any(stems_of(earlier) <= stems_of(query) for earlier in asked[:number])


def test_a_query_that_was_not_carried_out_is_not_asked_again(policy: LearnedBoolean) -> None:
    first = policy.next(claim(DOCTOR), ())
    assert first is not None
    second = policy.next(claim(DOCTOR), (QueryResult(first, 0, 0, carried_out=False),))
    assert second is not None
    assert second != first


def test_a_persons_query_of_the_claims_words_is_not_asked_again(policy: LearnedBoolean) -> None:
    first = policy.next(claim(DOCTOR), ())
    assert first is not None
    pinned = all_words_query(tuple(term.text.upper() for (term,) in first.groups), policy="pinned")
    second = policy.next(claim(DOCTOR), (QueryResult(replace(pinned, arm=Arm.PINNED), 0, 0),))
    assert second is not None
    assert stems_of(second) != stems_of(first)


def test_a_persons_queries_leave_the_policy_its_own(policy: LearnedBoolean) -> None:
    pinned = tuple(
        QueryResult(replace(all_words_query((word,), policy="pinned"), arm=Arm.PINNED), 1, 1) for word in "abcdefgh"
    )
    assert policy.next(claim(DOCTOR), pinned) == policy.next(claim(DOCTOR), ())


def test_the_plan_begins_with_what_is_asked_next(policy: LearnedBoolean) -> None:
    for text in CLAIMS:
        assert policy.plan(claim(text))[0] == policy.next(claim(text), ())


def test_threads_that_ask_about_different_claims_do_not_disturb_each_other(policy: LearnedBoolean) -> None:
    texts = CLAIMS[:3] * 4
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(3) as pool:
            together = list(pool.map(lambda text: policy.next(claim(text), ()), texts))
    finally:
        sys.setswitchinterval(interval)
    assert together == [policy.next(claim(text), ()) for text in texts]
