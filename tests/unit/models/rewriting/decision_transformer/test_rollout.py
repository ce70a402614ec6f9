"""Rollouts: legal edits whose trails replay, stopped as the course says, or by the true worths."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from models.retrieval.word_frequency import WordFrequency
from models.rewriting.boolean_edits import BooleanEdits
from models.rewriting.decision_transformer.encoders import StateEncoder
from models.rewriting.decision_transformer.environments import BooleanEnvironment
from models.rewriting.decision_transformer.policy import DecisionPolicy, Size
from models.rewriting.decision_transformer.rollout import Course, rollout
from models.rewriting.decision_transformer.train import Settings, train
from models.rewriting.edits import NAMES, POSITIONS, EditState, TextEdits
from models.rewriting.tagging import tag
from tests.unit.models.rewriting.decision_transformer.conftest import CLAIMS, Explored

NEVER, AT_ONCE = Course(stop_bias=float("-inf")), Course(stop_bias=float("inf"))
SIZE = Size("pointer", steps=3, layers=1, heads=2, width=32)


@pytest.fixture
def policy(encoder: StateEncoder) -> DecisionPolicy:
    torch.manual_seed(0)
    return DecisionPolicy.fresh(SIZE, encoder)


def test_a_trail_replays_to_the_query(explored: Explored, policy: DecisionPolicy) -> None:
    claims = list(explored.claims.values())
    states = rollout(policy, explored.environment, claims, NEVER)
    for tokens, state in zip(claims, states, strict=True):
        assert len(state.trail) == SIZE.steps
        assert TextEdits().replay(tokens, state.trail).text == state.text


def test_a_claim_that_is_left_alone_stays_as_it_is(explored: Explored, policy: DecisionPolicy) -> None:
    states = rollout(policy, explored.environment, list(explored.claims.values()), AT_ONCE)
    assert [state.text for state in states] == list(explored.collection.claims.values())


def test_nothing_is_done_where_no_edit_is_legal_or_left(explored: Explored, policy: DecisionPolicy) -> None:
    states = rollout(policy, explored.environment, tag(["", "So", "🚰"]), NEVER)
    assert [state.text for state in states] == ["", "", ""]


def test_the_papers_protocol_stops_at_perfect_claims_and_edits_all_others(
    explored: Explored, policy: DecisionPolicy
) -> None:
    told: list[int] = []

    def worths(numbers: Sequence[int], states: Sequence[EditState]) -> list[float]:
        told.extend(numbers)
        edits = [len(state.trail) for state in states]
        return [1.0 if number == 0 or done == 2 else 0.2 for number, done in zip(numbers, edits, strict=True)]

    claims = list(explored.claims.values())[:4]
    states = rollout(policy, explored.environment, claims, Course(), worths)
    assert [len(state.trail) for state in states] == [0, 2, 2, 2]
    assert sorted(told) == [0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_claims_in_one_batch_do_not_change_each_other(explored: Explored, policy: DecisionPolicy) -> None:
    claims = list(explored.claims.values())[:6]
    together = rollout(policy, explored.environment, claims, NEVER)
    alone = [rollout(policy, explored.environment, [tokens], NEVER)[0] for tokens in claims]
    assert [state.text for state in together] == [state.text for state in alone]


def test_a_boolean_query_is_edited_too(encoder: StateEncoder) -> None:
    environment = BooleanEnvironment(BooleanEdits(WordFrequency("en")))
    torch.manual_seed(0)
    asked = DecisionPolicy.fresh(Size("pointer", kinds=5, steps=3, layers=1, heads=2, width=32), encoder)
    (state,) = rollout(asked, environment, tag(["The vaccine secretly carries a tracking chip"]), NEVER)
    assert len(state.trail) == 4  # the start, and three edits
    assert state.groups
    seen = environment.seen(state)
    assert [seen.text[begin:end] for begin, end in seen.spans] == [word.text for word in state.content]


def test_a_trained_policy_makes_edits_that_gain_and_leaves_what_is_perfect(
    explored: Explored, encoder: StateEncoder, tmp_path: Path
) -> None:
    settings = Settings(SIZE, epochs=30, batch=16, learning_rate=5e-3, patience=30)
    policy = train(settings, explored.episodes, explored.episodes, tmp_path, encoder=encoder)
    misled = [explored.claims[f"c{number}"] for number in range(CLAIMS)]
    edited = rollout(policy, explored.environment, misled, Course(target=0.0))  # sparse: there is more to come
    for number, state in enumerate(edited):
        first = state.trail[0]
        assert first.position is not None
        at_start = explored.episodes.of({f"c{number}"}).states[0, 0]
        worths = explored.episodes.worths[at_start]
        assert worths[NAMES.index(first.action) * POSITIONS + first.position] > worths[-1]
    perfect = [explored.claims[f"p{number}"] for number in range(6)]
    as_they_are = rollout(policy, explored.environment, perfect, Course(target=1.0))  # this is the last step
    assert all(not state.trail for state in as_they_are)
