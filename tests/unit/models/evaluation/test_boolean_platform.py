import numpy as np
import pytest

from domain.query import EndpointKind, Query, Term, all_words_query
from models.evaluation.boolean_platform import SampledPlatform, Worth

POSTS = {
    "gold1": "the green lake glows",
    "gold2": "a lake that is green",
    "other1": "green grass by the lake",
    "other2": "lake",
    "other3": "green",
    **{f"noise{n}": "nothing to see" for n in range(95)},
}
GOLD = {"gold1", "gold2"}
GREEN_LAKE = all_words_query(("green", "lakes"), policy="test")
BACKGROUND = 100 * (1 + 10 * 100 * 0.04 * 0.04)  # one other match; each word matches 4 of 100 posts


def test_expected_worth_follows_the_formula() -> None:
    worth = SampledPlatform(POSTS).expected([GREEN_LAKE], GOLD)
    assert worth.reads == 100
    assert worth.found == pytest.approx(2 * 100 / (2 + BACKGROUND))


def test_a_post_that_two_queries_may_bring_counts_once() -> None:
    worth = SampledPlatform(POSTS).expected([GREEN_LAKE, GREEN_LAKE], GOLD)
    assert worth.reads == 100
    assert worth.found == pytest.approx(2 * (1 - (1 - 50 / (2 + BACKGROUND)) ** 2))


def test_at_scale_one_the_platform_is_the_sample() -> None:
    worth = SampledPlatform(POSTS, scale=1).expected([GREEN_LAKE], GOLD)
    assert worth == Worth(found=2, reads=3, gold=2)
    assert worth.f2 == pytest.approx(5 * (2 / 3) / (4 * (2 / 3) + 1))


def test_an_or_group_matches_any_of_its_words() -> None:
    query = Query(EndpointKind.BOOLEAN, ((Term("glow"), Term("grass")), (Term("lake"),)), policy="test")
    assert SampledPlatform(POSTS, scale=1).expected([query], GOLD) == Worth(found=1, reads=2, gold=2)


def test_a_query_that_matches_nothing_reads_nothing() -> None:
    platform = SampledPlatform(POSTS)
    query = all_words_query(("volcano", "lake"), policy="test")
    assert platform.expected([query], GOLD) == Worth(0, 0, 2)
    assert platform.draw([query], GOLD, np.random.default_rng(0)) == []


def test_the_mean_of_many_draws_is_what_is_expected() -> None:
    platform = SampledPlatform(POSTS, reads=33)
    queries = [GREEN_LAKE, all_words_query(("glow",), policy="test")]
    expected = platform.expected(queries, GOLD)
    rng = np.random.default_rng(7)
    draws = [platform.draw(queries, GOLD, rng) for _ in range(4000)]
    found = [len({post.id for post in draw} & GOLD) for draw in draws]
    assert np.mean(found) == pytest.approx(expected.found, abs=0.03)
    assert np.mean([len(draw) for draw in draws]) == pytest.approx(expected.reads, abs=0.03)


def test_background_is_copies_of_other_matches_under_new_ids() -> None:
    draw = SampledPlatform(POSTS).draw([GREEN_LAKE], GOLD, np.random.default_rng(1))
    copies = [post for post in draw if post.id != post.source]
    assert {post.source for post in copies} == {"other1"}
    assert len({post.id for post in draw}) == len(draw) == 100


def test_background_without_a_match_in_the_sample_looks_like_the_nearest_posts() -> None:
    query = all_words_query(("glow", "lake"), policy="test")
    draw = SampledPlatform(POSTS).draw([query], GOLD, np.random.default_rng(1))
    assert {post.source for post in draw if post.id != post.source} == {"other1", "other2"}


def test_the_same_seed_draws_the_same_posts() -> None:
    platform = SampledPlatform(POSTS)
    first, second = (platform.draw([GREEN_LAKE], GOLD, np.random.default_rng(3)) for _ in range(2))
    assert first == second


def test_background_of_a_word_that_only_gold_posts_hold_may_be_any_post() -> None:
    draw = SampledPlatform(POSTS).draw([all_words_query(("glows",), policy="test")], GOLD, np.random.default_rng(1))
    assert len(draw) == 100
    assert not {post.source for post in draw if post.id != post.source} & GOLD
