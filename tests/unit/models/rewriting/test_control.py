from collections import Counter
from dataclasses import dataclass, replace

import pytest

from domain.fact_check import Claim
from domain.ids import FactCheckId
from domain.query import Arm, Query, all_words_query
from models.rewriting.control import WithControl
from models.rewriting.policy import Count, CountResult, History, QueryResult, searches_of

MANY = 4000  # claims: the share has a standard error of half a point at most


@dataclass(frozen=True)
class Planned:
    """A policy that has so many queries to ask, and counts each before."""

    name: str
    arm: Arm
    has: int
    counts: bool = False

    def next(self, claim: Claim, history: History) -> Query | Count | None:
        asked = sum(result.query.policy == self.name for result in searches_of(history))
        if asked >= self.has or not claim.text:
            return None
        query = replace(all_words_query((claim.text, str(asked)), policy=self.name), arm=self.arm)
        is_counted = any(isinstance(result, CountResult) and result.query == query for result in history)
        return Count(query) if self.counts and not is_counted else query


def policy(
    *, learned: int = 50, plain: int = 50, queries: int = 4, share: float = 0.1, counts: bool = False
) -> WithControl:
    return WithControl(
        Planned("learned@1", Arm.LEARNED, learned, counts), Planned("plain@1", Arm.PLAIN, plain), queries, share
    )


def arms(given: WithControl, text: str, *, carried_out: bool = True, before: History = ()) -> list[Arm]:
    """Whose queries are asked, in order."""
    history, claim = before, Claim(FactCheckId(1), text, "en")
    while step := given.next(claim, history):
        if isinstance(step, Count):
            history += (CountResult(step.query, 3),)
        else:
            history += (QueryResult(step, 1, 1, carried_out=carried_out),)
        assert len(history) < 100, "does not stop"
    return [result.query.arm for result in searches_of(history[len(before) :])]


def share_of_plain(given: WithControl) -> float:
    found = Counter(arm for number in range(MANY) for arm in arms(given, f"claim {number}"))
    return found[Arm.PLAIN] / found.total()


@pytest.mark.parametrize("share", [0.1, 0.25, 0.6])
@pytest.mark.parametrize("queries", [1, 3, 8])
def test_over_many_claims_the_share_is_the_plain_policys(share: float, queries: int) -> None:
    assert share_of_plain(policy(share=share, queries=queries)) == pytest.approx(share, abs=0.025)


@pytest.mark.parametrize("counts", [False, True])
def test_all_queries_are_asked_the_plain_ones_last(counts: bool) -> None:
    given = policy(share=0.4, queries=5, counts=counts)
    for number in range(100):
        asked = arms(given, f"claim {number}")
        assert len(asked) == 5
        assert asked == sorted(asked, key=lambda arm: arm is Arm.PLAIN)
        assert asked.count(Arm.PLAIN) == 2


def test_no_share_is_no_plain_query() -> None:
    assert share_of_plain(policy(share=0)) == 0


def test_the_whole_share_is_all_plain_queries() -> None:
    assert share_of_plain(policy(share=1)) == 1


def test_which_claims_get_a_plain_query_more_follows_from_their_text() -> None:
    texts = [f"claim {number}" for number in range(200)]
    once, again = ([arms(policy(share=0.1), text) for text in texts] for _ in range(2))
    assert once == again
    assert len({tuple(asked) for asked in once}) == 2


@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_all_queries_are_plain_where_the_learned_policy_has_nothing_to_ask(share: float) -> None:
    assert arms(policy(learned=0, share=share), "claim") == [Arm.PLAIN] * 4


@pytest.mark.parametrize("learned", [1, 3])
def test_the_share_is_that_of_what_is_asked_where_the_learned_policy_soon_has_enough(learned: int) -> None:
    given = policy(learned=learned, queries=8, share=0.25)
    assert share_of_plain(given) == pytest.approx(0.25, abs=0.025)
    assert all(arms(given, f"claim {number}").count(Arm.LEARNED) == learned for number in range(50))


def test_a_plain_policy_without_queries_ends_it() -> None:
    assert set(arms(policy(plain=0, share=0.5), "claim")) == {Arm.LEARNED}


def test_a_persons_queries_take_nothing_from_either() -> None:
    pinned = replace(all_words_query(("word",), policy="pinned"), arm=Arm.PINNED)
    before = (QueryResult(pinned, 1, 1),) * 6
    given = policy(share=0.5, queries=4)
    assert arms(given, "claim", before=before) == arms(given, "claim")


def test_queries_that_were_not_carried_out_count_as_asked() -> None:
    given = policy(share=0.5)
    assert arms(given, "claim", carried_out=False) == arms(given, "claim")


@pytest.mark.parametrize("text", ["", "\udcff"])
def test_an_empty_claim_asks_nothing_and_a_broken_one_is_no_accident(text: str) -> None:
    assert bool(arms(policy(), text)) is bool(text)
