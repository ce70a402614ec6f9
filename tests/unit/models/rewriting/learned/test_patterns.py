from itertools import permutations, product
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

from models.evaluation.boolean_platform import f_two as domain_f_two
from models.rewriting.learned.patterns import MOST_IN_QUERY, MOST_WORDS, choose, f_two, pattern_odds, space

READS = 20.0


def mixture(words: int, ways: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 2, (words, ways)), rng.dirichlet(np.ones(ways))


@pytest.mark.parametrize("n", [1, 3, MOST_WORDS])
def test_the_space_holds_every_query_of_up_to_four_words_once(n: int) -> None:
    made = space(n)
    assert len(set(made.queries)) == len(made.queries) == sum(comb(n, k) for k in range(1, min(n, MOST_IN_QUERY) + 1))
    assert [made.numbers[frozenset(query)] for query in made.queries] == list(range(len(made.queries)))
    assert made.patterns.shape == (2**n, n)
    assert len({tuple(row) for row in made.patterns.tolist()}) == 2**n


def test_a_query_finds_the_patterns_that_hold_all_its_words() -> None:
    made = space(5)
    for pattern, found in zip(made.patterns, made.finds, strict=True):
        held = set(np.flatnonzero(pattern))
        assert found.tolist() == [set(query) <= held for query in made.queries]


@pytest.mark.parametrize("n", [1, 4, MOST_WORDS])
def test_odds_of_all_patterns_sum_to_one(n: int) -> None:
    retained, shares = mixture(n, 3, seed=n)
    odds = pattern_odds(retained, shares, space(n).patterns)
    assert odds.min() >= 0
    assert odds.sum() == pytest.approx(1)


def test_odds_are_those_of_a_mixture_of_independent_words() -> None:
    retained, shares = mixture(3, 2, seed=1)
    held = 1 / (1 + np.exp(-retained))
    for pattern, odds in zip(space(3).patterns, pattern_odds(retained, shares, space(3).patterns), strict=True):
        expected = sum(
            share * np.prod([p if there else 1 - p for p, there in zip(way, pattern, strict=True)])
            for share, way in zip(shares, held.T, strict=True)
        )
        assert odds == pytest.approx(expected)


def test_extreme_logits_give_odds_that_are_numbers() -> None:
    retained = np.array([[900.0], [-900.0]])
    odds = pattern_odds(retained, np.ones(1), space(2).patterns)
    assert odds.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_f2_is_the_evaluations() -> None:
    for found, reads in product([0.0, 0.01, 0.5, 1.0], [0.0, 0.3, 1.0, 7.0, 100.0]):
        expected = domain_f_two(found / max(reads, found) if found else 0.0, found)
        assert float(f_two(np.array(found), np.array(reads))) == pytest.approx(expected)


def expected_f2(odds: NDArray[np.float64], background: NDArray[np.float64], asked: tuple[int, ...]) -> float:
    """By its definition, a pattern after another: a post that has the pattern, and what the queries make of it."""
    total = 0.0
    for pattern, share in enumerate(odds):
        missed, reads = 1.0, 0.0
        for query in asked:
            is_found = bool(space(3).finds[pattern, query])
            matching = background[query] + is_found
            reads += min(READS, matching)
            missed *= 1 - is_found * min(1.0, READS / (1 + background[query]))
        found = 1 - missed
        total += share * domain_f_two(found / max(reads, found) if found else 0.0, found)
    return total


@pytest.mark.parametrize("seed", range(12))
def test_each_chosen_query_is_the_one_that_adds_the_most(seed: int) -> None:
    retained, shares = mixture(3, 2, seed)
    odds = pattern_odds(retained, shares, space(3).patterns)
    background = np.random.default_rng(seed).lognormal(1.5, 2, len(space(3).queries))
    chosen = choose(odds, space(3).finds, background, most=3, reads=READS)
    assert chosen, "a single query always brings something"
    for number in range(len(chosen)):
        before = tuple(chosen[:number])
        rest = [query for query in range(7) if query not in before]
        worths = {query: expected_f2(odds, background, (*before, query)) for query in rest}
        assert worths[chosen[number]] == pytest.approx(max(worths.values()), abs=1e-4)
        assert worths[chosen[number]] > expected_f2(odds, background, before) - 1e-4


@pytest.mark.parametrize("seed", range(12))
def test_the_first_query_is_the_best_single_one_and_two_are_hardly_worse_than_the_best_two(seed: int) -> None:
    retained, shares = mixture(3, 2, seed)
    odds = pattern_odds(retained, shares, space(3).patterns)
    background = np.random.default_rng(seed).lognormal(1.5, 2, len(space(3).queries))
    chosen = tuple(choose(odds, space(3).finds, background, most=2, reads=READS))
    best = max(expected_f2(odds, background, two) for two in permutations(range(7), 2))
    best = max(best, max(expected_f2(odds, background, (one,)) for one in range(7)))
    assert expected_f2(odds, background, chosen) >= 0.9 * best


def test_queries_named_are_never_chosen_and_what_costs_more_than_it_brings_is_left() -> None:
    odds = np.zeros(8)
    odds[7] = 1.0  # the post holds all three words
    background = np.zeros(7)
    first = choose(odds, space(3).finds, background, most=5, reads=READS)
    assert len(first) == 1, "one query finds the post for sure; another only costs"
    assert choose(odds, space(3).finds, background, most=5, reads=READS, but=first)[0] not in first
    assert choose(odds, space(3).finds, background, most=5, reads=READS, but=range(7)) == []


def test_nothing_is_chosen_where_nothing_is_left_to_find() -> None:
    assert choose(np.full(8, 1e-9), space(3).finds, np.ones(7), most=3, reads=READS) == []
    assert choose(np.ones(8) / 8, space(3).finds, np.ones(7), most=0, reads=READS) == []
