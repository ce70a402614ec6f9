from dataclasses import replace

import numpy as np
import pytest

from domain.query import EndpointKind, OrGroup, Query, Term, all_words_query
from models.rewriting.learned.outlook import Foreseer, Outlook
from models.rewriting.policy import QueryResult
from tests.unit.models.rewriting.learned.conftest import CLAIMS, DOCTOR, SILENT

READS = 10.0


@pytest.fixture
def outlook(foreseer: Foreseer) -> Outlook:
    found = foreseer.outlook(DOCTOR)
    assert found is not None
    return found


def chance_left(outlook: Outlook, query: int) -> float:
    """That a post which is still to be found exists and is one that the query finds."""
    return float(outlook.odds() @ outlook.space.finds[:, query])


def test_every_query_has_its_number_however_its_words_are_written_and_ordered(
    outlook: Outlook, foreseer: Foreseer
) -> None:
    for number in range(0, len(outlook.space.queries), 7):
        query = foreseer.query(outlook, number, policy="x")
        assert outlook.number(query) == number
        shouted = all_words_query(tuple(term.text.upper() for (term,) in reversed(query.groups)), policy="pinned")
        assert outlook.number(shouted) == number


@pytest.mark.parametrize("groups", [((Term("onion"),),), ((Term("doctor"),), (Term("onion"),)), ()])
def test_a_query_of_other_words_has_none(outlook: Outlook, groups: tuple[OrGroup, ...]) -> None:
    assert outlook.number(Query(EndpointKind.BOOLEAN, groups, "pinned")) is None


@pytest.mark.parametrize("text", CLAIMS)
def test_what_is_expected_of_a_claim_is_a_distribution_and_numbers_of_posts(foreseer: Foreseer, text: str) -> None:
    outlook = foreseer.outlook(text)
    assert outlook is not None
    assert 1 <= len(outlook.words) <= 10
    assert outlook.odds().sum() == pytest.approx(1)
    assert outlook.background.shape == (len(outlook.space.queries),)
    assert np.isfinite(outlook.background).all()
    assert (outlook.background >= 0).all()


@pytest.mark.parametrize("text", SILENT)
def test_nothing_is_expected_of_a_claim_without_content_words(foreseer: Foreseer, text: str) -> None:
    assert foreseer.outlook(text) is None


def test_an_empty_result_says_that_no_post_has_the_words(outlook: Outlook, foreseer: Foreseer) -> None:
    query = foreseer.query(outlook, 0, policy="x")
    after = outlook.after((QueryResult(query, 0, 0),), READS)
    assert chance_left(after, 0) == 0
    assert after.asked == {0}
    assert after.odds().sum() > 0, "a post of other words may be there"


def test_a_full_page_of_other_posts_leaves_more_to_be_found_than_an_empty_one(
    outlook: Outlook, foreseer: Foreseer
) -> None:
    broad = int(np.argmax(outlook.background))
    query = foreseer.query(outlook, broad, policy="x")
    full = outlook.after((QueryResult(query, int(READS), int(READS), (0.0,) * int(READS)),), READS)
    assert 0 < chance_left(full, broad) < chance_left(outlook, broad)


def test_a_query_that_was_not_carried_out_teaches_nothing(outlook: Outlook, foreseer: Foreseer) -> None:
    query = foreseer.query(outlook, 3, policy="x")
    after = outlook.after((QueryResult(query, 0, 0, carried_out=False),), READS)
    np.testing.assert_array_equal(after.odds(), outlook.odds())
    assert after.asked == {3}


def test_a_post_that_the_matcher_is_sure_of_speaks_for_the_ways_that_put_the_claim_so(outlook: Outlook) -> None:
    ways = replace(
        outlook.foresight,
        retained=np.tile([5.0, -5.0], (len(outlook.words), 1)),
        shares=np.array([0.5, 0.5]),
    )
    assert ways.after(0, 1.0, found=True).shares[0] > 0.9
    assert ways.after(0, 1.0, found=False).shares[0] < 0.1
    assert ways.after(0, 0.0, found=False).shares == pytest.approx([0.5, 0.5])


def test_without_a_query_no_pattern_that_it_finds_is_left(outlook: Outlook) -> None:
    for query in (0, 20, 100):
        left = outlook.without(query)
        assert chance_left(left, query) == 0
        assert not left.asked
