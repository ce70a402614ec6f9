"""The comparison by a cross-encoder, on the packaged encoder itself."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from domain.fact_check import FactCheck
from models.evaluation.collections import PostCollection
from models.ranking.cross_encoder import Choice, CrossEncoder, loss, text_of, train
from models.ranking.training_posts import TrainingPosts

MakeFactCheck = Callable[..., FactCheck]


def test_the_loss_is_that_of_choosing_the_first_among_each_posts_fact_checks() -> None:
    scores = {"right": 2.0, "near": 1.0, "far": -1.0}

    def network(pairs: Sequence[tuple[str, str]]) -> Tensor:
        return torch.tensor([scores[fact] for _, fact in pairs], dtype=torch.float64)

    found = loss(network, [Choice("p", ["right", "near"]), Choice("q", ["far", "right", "near"])])

    first = np.log(1 + np.exp(-1.0))
    second = np.log(np.exp(-1.0) + np.exp(2.0) + np.exp(1.0)) + 1.0
    assert found.item() == pytest.approx((first + second) / 2)


def test_a_pairs_neighbours_do_not_change_its_score() -> None:
    network = CrossEncoder(seed=0)
    pair = ("they banned fluoride", "Lindmouth banned fluoride.")
    with torch.inference_mode():
        alone = network([pair])[0]
        beside = network([pair, ("a longer post about something else " * 9, "A claim. And its title")])[0]
    assert float(beside) == pytest.approx(float(alone), abs=1e-5)


def test_it_learns_to_tell_right_fact_checks_and_takes_up_where_it_was_cut_off(
    make: MakeFactCheck, tmp_path: Path
) -> None:
    things = ("fluoride", "bees", "bridges", "owls", "bread", "lamps", "rivers", "clocks")
    facts = tuple(
        make(f"Lindmouth {verb} {thing}.", key=f"{verb} {thing}") for thing in things for verb in ("bans", "buys")
    )
    queries = {thing: f"so now they want to ban {thing} in Lindmouth" for thing in things}
    qrels = {thing: {f"bans {thing}"} for thing in things}
    gold = [frozenset({2 * at}) for at in range(len(things))]
    posts = TrainingPosts(PostCollection(queries, qrels, facts), gold, 0)
    mined = [[2 * at + 1] for at in range(len(things))]
    checkpoint, said = tmp_path / "c.checkpoint", list[str]()
    choices = [Choice(queries[t], [f"Lindmouth bans {t}.", f"Lindmouth buys {t}."]) for t in things]

    network = train(posts, mined, seed=0, checkpoint=checkpoint, say=said.append)
    again = train(posts, mined, seed=0, checkpoint=checkpoint, say=said.append)

    with torch.inference_mode():
        assert loss(network, choices) < loss(CrossEncoder(seed=0), choices) - 0.01
    assert said[-1].startswith("going on after step")
    assert network.score(queries["owls"], facts) == pytest.approx(again.score(queries["owls"], facts))


def test_claim_and_title_are_read_together(make: MakeFactCheck) -> None:
    assert text_of(make("Lindmouth bans bees.", title="Did it?")) == "Lindmouth bans bees. Did it?"
