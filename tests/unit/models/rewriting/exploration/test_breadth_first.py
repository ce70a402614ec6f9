"""The search alone, over edits of a made-up world in which every way is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from models.rewriting.exploration.breadth_first import Children, Exploration, Limits, explore


@dataclass(frozen=True, slots=True)
class Word:
    """A text from which edit i takes the letter i away; the fewer of "bad" are left, the better."""

    key: str

    @property
    def worth(self) -> float:
        return 1 - sum(self.key.count(letter) for letter in "bad") / 10


def expand(states: Sequence[Word]) -> list[Children[Word]]:
    return [children(state) for state in states]


def children(state: Word) -> Children[Word]:
    states = [Word(state.key[:at] + state.key[at + 1 :]) for at in range(len(state.key))]
    return Children(range(len(states)), states, np.array([[child.worth, 0.0] for child in states]))


def explored(text: str, ways: list[list[int]] | None = None, seed: int = 0, **limits: float) -> Exploration[Word]:
    start = Word(text)
    chosen = Limits(**({"left_out": 0.0} | limits))  # type: ignore[arg-type]
    rng = np.random.default_rng(seed)
    return explore(start, np.array([start.worth, 0.0]), expand, chosen, rng, ways or [])


def texts(found: Exploration[Word]) -> list[str]:
    return [end.state.key for end in found.sequences]


def test_the_best_way_comes_first_and_each_text_is_visited_once() -> None:
    found = explored("xbyad")
    assert texts(found)[0] == "xy"
    keys = [visit.state.key for visit in found.visits]
    assert len(keys) == len(set(keys)) == 8, "every subset of the three bad letters"
    assert found.sequences[0].path()[0].state.key == "xbyad"
    assert len(found.sequences[0].path()) == 4


def test_only_gaining_edits_are_followed_and_losing_ones_are_known_all_the_same() -> None:
    (start, *others) = explored("xbyad").visits
    assert start.children is not None
    assert len(start.children.actions) == 5
    assert all("x" in visit.state.key and "y" in visit.state.key for visit in others)


def test_no_way_is_longer_than_the_depth() -> None:
    assert max(map(len, (end.path() for end in explored("badbadxx", depth=2).sequences))) == 3
    assert texts(explored("badbadxx", depth=2))[0].count("x") == 2


def test_a_perfect_claim_has_no_way_but_its_own_edits_are_known() -> None:
    found = explored("xyz")
    assert found.sequences == []
    assert len(found.visits) == 1
    assert found.visits[0].children is not None
    assert found.evaluations == 4


def test_negatives_follow_losing_edits_too() -> None:
    assert any(len(key) == 1 for key in texts(explored("xbz", losers=2, depth=2)))
    assert texts(explored("xbz", depth=2)) == ["xz"]


def test_a_known_way_is_gone_though_its_edits_lose() -> None:
    found = explored("xbz", ways=[[0, 1]], least_gain=2.0)
    assert [visit.state.key for visit in found.visits] == ["xbz", "bz", "b"]


def test_small_gains_and_a_share_of_the_others_are_left_out() -> None:
    assert len(explored("xbyad", least_gain=0.2).visits) == 1
    visits = [len(explored("bad" * 4, left_out=0.5, seed=seed, depth=1).visits) for seed in range(50)]
    assert 5 < np.mean(visits) < 9


def test_the_same_seed_gives_the_same_exploration() -> None:
    runs: list[Mapping[str, float]] = [
        {visit.state.key: visit.worth[0] for visit in explored("badxbad", left_out=0.3, seed=5).visits}
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


def test_of_many_states_the_best_are_taken_up() -> None:
    assert len([visit for visit in explored("badbadbad", states=2, depth=3).visits if visit.depth == 2]) == 2
    assert len(explored("badbadbad", sequences=3).sequences) == 3
