from collections.abc import Callable, Mapping

import pytest

from domain.query import Query
from models.rewriting.learned.boolean import LearnedBoolean
from models.rewriting.learned.counting import MOST_COUNTS, LearnedCounting
from models.rewriting.learned.outlook import Foreseer
from models.rewriting.policy import Count, CountResult, History, searches_of
from tests.unit.models.rewriting.learned.conftest import CLAIMS, DOCTOR, SILENT, claim, run, stems_of

READS = 50
Words = frozenset[str]


@pytest.fixture
def policy(foreseer: Foreseer) -> LearnedCounting:
    return LearnedCounting(foreseer, 3, READS)


def counted(history: History) -> list[CountResult]:
    return [result for result in history if isinstance(result, CountResult)]


def platform(sizes: Mapping[str, int]) -> Callable[[Query], int]:
    """Counts by the rarest of a query's words: of more words never more."""
    return lambda query: min(sizes.get(word, 10_000) for word in stems_of(query)) // 4 ** (len(query.groups) - 1)


@pytest.mark.parametrize("text", CLAIMS)
def test_counts_are_asked_first_each_once_and_not_too_many(policy: LearnedCounting, text: str) -> None:
    history = run(policy, claim(text), count=lambda query: 3)
    counts = [isinstance(result, CountResult) for result in history]
    assert counts == sorted(counts, reverse=True), "no count after a search"
    asked = [stems_of(result.query) for result in counted(history)]
    assert 1 <= len(asked) <= MOST_COUNTS
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("text", SILENT)
def test_a_claim_that_says_nothing_is_not_counted(policy: LearnedCounting, text: str) -> None:
    assert policy.next(claim(text), ()) is None


def test_of_a_query_that_matches_nothing_no_narrower_one_is_counted(policy: LearnedCounting) -> None:
    for text in CLAIMS[:3]:
        empty: list[Words] = []

        def count(query: Query, empty: list[Words] = empty) -> int:
            words = stems_of(query)
            assert not any(known <= words for known in empty), "it cannot match anything"
            empty.append(words)
            return 0

        history = run(policy, claim(text), count=count)
        assert len(empty) > 1
        assert not searches_of(history), "nothing matches, so nothing is read"


def test_searches_are_among_what_was_counted_with_few_posts(policy: LearnedCounting) -> None:
    sizes = {"5g": 400, "chips": 2_000, "paris": 5_000, "doctor": 3_000}
    count = platform(sizes)
    history = run(policy, claim(DOCTOR), count=count)
    known = {stems_of(result.query): result.posts for result in counted(history)}
    searched = [stems_of(result.query) for result in searches_of(history)]
    assert searched
    assert len(set(searched)) == len(searched) <= 3
    assert all(0 < (known[words] or 0) <= READS for words in searched)


def test_of_the_same_query_fewer_other_posts_are_worth_more(policy: LearnedCounting) -> None:
    first = policy.next(claim(DOCTOR), ())
    assert isinstance(first, Count)
    chosen = stems_of(first.query)

    def count(query: Query) -> int:
        return 2 if stems_of(query) == chosen else 100_000

    history = run(LearnedCounting(policy.foreseer, 1, READS), claim(DOCTOR), count=count)
    assert [stems_of(result.query) for result in searches_of(history)] == [chosen]


def test_a_platform_that_cannot_tell_is_asked_once_and_then_searched_like_one_that_never_counts(
    policy: LearnedCounting,
) -> None:
    for text in CLAIMS[:4]:
        history = run(policy, claim(text), count=lambda query: None)
        assert len(counted(history)) == 1
        blind = LearnedBoolean(policy.foreseer, policy.most, policy.reads)
        expected = [result.query for result in run(blind, claim(text))]
        assert [result.query for result in searches_of(history)] == expected != []


def test_counting_that_fails_on_the_way_ends_it_and_what_was_counted_is_used(policy: LearnedCounting) -> None:
    answers = iter([2, 3, None])
    history = run(policy, claim(DOCTOR), count=lambda query: next(answers))
    assert [result.posts for result in counted(history)] == [2, 3, None]
    known = {stems_of(result.query) for result in counted(history)[:2]}
    searched = [stems_of(result.query) for result in searches_of(history)]
    assert searched
    assert set(searched) <= known


def test_one_word_that_is_everywhere_is_not_worth_its_posts(policy: LearnedCounting) -> None:
    history = run(policy, claim("people"), count=lambda query: 50_000_000)
    assert len(counted(history)) == 1
    assert not searches_of(history)


def test_the_same_claim_and_history_give_the_same_step(policy: LearnedCounting, foreseer: Foreseer) -> None:
    history = run(policy, claim(DOCTOR), count=platform({"5g": 400}))
    again = LearnedCounting(Foreseer(foreseer.retention, foreseer.statistics), 3, READS)
    policy.next(claim(CLAIMS[1]), ())
    for end in (0, 1, 7, len(history)):
        assert again.next(claim(DOCTOR), history[:end]) == policy.next(claim(DOCTOR), history[:end])
