import numpy as np
import pytest

from models.rewriting.learned.claim_words import ClaimWord, Rarity, located
from models.rewriting.learned.outlook import Foreseer
from models.rewriting.learned.patterns import space
from models.rewriting.learned.volume import FEATURES, chance_of_fewer, query_features
from tests.unit.models.rewriting.learned.conftest import DOCTOR


def test_a_query_has_the_same_features_whatever_other_queries_stand_beside_it() -> None:
    words = located(["Paris", "5G", "chips"], DOCTOR)
    rarity = Rarity(np.array([5.0, 3.0, 6.0]), np.array([5.5, 3.5, 6.5]))
    members = space(3).members
    together = query_features(words, rarity, members)
    assert together.shape == (len(members), FEATURES)
    for row, member in zip(together, members, strict=True):
        np.testing.assert_array_equal(query_features(words, rarity, member[None])[0], row)


def test_words_are_located_where_they_are_first_mentioned_and_a_word_that_is_not_there_nowhere() -> None:
    found = located(["chips", "paris", "onion"], DOCTOR)
    assert [DOCTOR[word.start : word.end].lower() for word in found] == ["chips", "paris", ""]
    assert found[2] == ClaimWord("onion", 0, 0)


def test_the_chance_of_fewer_falls_with_what_is_expected_and_is_even_where_so_many_are() -> None:
    chances = chance_of_fewer(np.array([0.0, 0.5, 4.0, 90.0, 1e6]), 4.0)
    assert (np.diff(chances) < 0).all()
    assert chances[2] == pytest.approx(0.5)
    assert 0 < chances[-1] < 0.01
    assert chances[0] > 0.99


def test_more_words_are_expected_to_match_fewer_posts(foreseer: Foreseer) -> None:
    outlook = foreseer.outlook(DOCTOR)
    assert outlook is not None
    sizes = outlook.space.members.sum(1)
    mean = [outlook.background[sizes == size].mean() for size in (1, 2, 3, 4)]
    assert mean == sorted(mean, reverse=True)


def test_a_count_of_nothing_leaves_no_odds_and_any_other_bounded_ones(foreseer: Foreseer) -> None:
    outlook = foreseer.outlook(DOCTOR)
    assert outlook is not None
    assert foreseer.retention.told(outlook.foresight, 0, 0) == 0
    for posts in (1, 50, 10**9):
        assert np.exp(-6.001) <= foreseer.retention.told(outlook.foresight, 0, posts) <= np.exp(6.001)
