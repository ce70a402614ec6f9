"""Episodes, from an exploration of claims written here."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from domain.errors import BadInput
from models.rewriting.decision_transformer.sequences import LEAST_GAIN, PADDING, Episodes, held_out, read_episodes
from models.rewriting.edits import ACTIONS
from models.rewriting.exploration import run
from models.rewriting.exploration.breadth_first import Limits
from tests.unit.models.rewriting.decision_transformer.conftest import STEPS, Explored

STOP = ACTIONS


def test_dense_returns_are_the_scores_to_come_and_sparse_ones_the_best_at_the_last_step(explored: Explored) -> None:
    row = explored.episodes.of({explored.episodes.claims[0]})
    worths = np.array([[0.5, 0.25, 1.0], [0.5, 0.0, 0.0]], np.float32)
    actions = np.array([[96, 97, STOP], [96, PADDING, PADDING]])
    asked = replace(row, rewards=worths, actions=actions, best=np.array([1.0, 0.75], np.float32))
    assert asked.returns("dense").tolist() == [[1.75, 1.25, 1.0], [0.5, 0, 0]]
    assert asked.returns("sparse").tolist() == [[0, 0, 1.0], [0.75, 0, 0]]


def test_stopping_is_right_where_no_legal_edit_gains_and_nowhere_else(explored: Explored) -> None:
    episodes, stopped = explored.episodes, 0
    for states, actions in zip(episodes.states, episodes.actions, strict=True):
        for number, action in zip(states, actions, strict=True):
            worths = episodes.worths[number]
            gains = np.nanmax(worths[:STOP], initial=0.0) - worths[STOP]
            if action == STOP:
                stopped += 1
                assert gains < LEAST_GAIN
            elif action != PADDING:
                assert gains >= LEAST_GAIN
    assert stopped > 0


def test_a_perfect_claim_is_an_episode_that_stops_at_once(explored: Explored) -> None:
    row = explored.episodes.of({"p0"})
    assert row.actions.tolist() == [[STOP] + [PADDING] * (STEPS - 1)]
    assert row.rewards[0, 0] == 1


def test_all_legal_edits_of_a_state_are_known_losing_ones_too(explored: Explored) -> None:
    first = explored.episodes.of({"c0"}).states[0, 0]
    legal, worths = explored.episodes.legal[first], explored.episodes.worths[first]
    assert (~np.isnan(worths) == legal).all()
    assert np.nanmin(worths[:STOP]) < worths[STOP] < np.nanmax(worths[:STOP])


def test_actions_are_legal_and_a_claims_episodes_weigh_one_together(explored: Explored) -> None:
    episodes = explored.episodes
    there = episodes.actions != PADDING
    assert episodes.legal[episodes.states[there], episodes.actions[there]].all()
    assert set(episodes.claims) == set(explored.claims)
    for claim in explored.claims:
        assert episodes.of({claim}).weights.sum() == pytest.approx(1)
    assert len(episodes.of({"c1"})) == 3


def test_sequences_that_lose_are_learned_from_where_asked_for(explored: Explored, tmp_path: Path) -> None:
    limits = Limits(depth=STEPS, states=60, losers=2, sequences=500)
    list(run.run(replace(explored.plan, limits=limits), tmp_path / "relaxed"))
    read = partial(read_episodes, tmp_path / "relaxed", explored.claims, explored.environment, steps=STEPS, most=3)
    improving, both = read(), read(losing=2)
    assert not lost(improving).any()
    assert lost(both).sum() == len(both) - len(improving) > 0
    for claim in explored.claims:
        assert lost(both.of({claim})).sum() <= 2
        assert both.of({claim}).weights.sum() == pytest.approx(1)


def lost(episodes: Episodes) -> NDArray[np.bool_]:
    """Which of them end below their claim."""
    starts = episodes.worths[episodes.states[:, 0], STOP]
    lengths = (episodes.actions != PADDING).sum(1)
    ends = episodes.rewards[np.arange(len(episodes)), lengths - 1]
    below: NDArray[np.bool_] = ends < starts
    return below


def test_the_words_stand_where_the_spans_say(explored: Explored) -> None:
    start = explored.environment.start(explored.claims["c3"])
    seen = explored.environment.seen(start)
    assert [seen.text[begin:end] for begin, end in seen.spans] == [word.text for word in start.words]


def test_an_exploration_of_other_claims_or_with_other_edits_is_refused(explored: Explored) -> None:
    with pytest.raises(BadInput, match="not among those given"):
        read_episodes(explored.folder, {}, explored.environment, steps=STEPS, most=3)
    others = dict(zip(explored.claims, reversed(explored.claims.values()), strict=True))
    with pytest.raises((BadInput, ValueError, KeyError)):
        read_episodes(explored.folder, others, explored.environment, steps=STEPS, most=3)


def test_claims_of_a_page_are_held_out_together() -> None:
    groups = {f"c{number}": f"page {number % 10}" for number in range(50)}
    out = set(held_out(groups, share=0.2, seed=0))
    assert len(out) == 10
    assert len({groups[claim] for claim in out}) == 2
    assert out != set(held_out(groups, share=0.2, seed=1))
