"""Training: it learns, it is repeatable, it goes on where it was cut off, and what it leaves can be loaded."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch

from domain.errors import BadArtifact
from models.rewriting.decision_transformer import train as training
from models.rewriting.decision_transformer.encoders import StateEncoder, TextEncoder
from models.rewriting.decision_transformer.policy import DecisionPolicy, Size
from models.rewriting.decision_transformer.train import Settings, evaluate, train
from tests.unit.models.rewriting.decision_transformer.conftest import Explored

SMALL = Size(steps=3, layers=1, heads=2, width=32)
BRIEF = Settings(SMALL, epochs=3, batch=16)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.parametrize(
    "changes",
    [{"state": state, "encoder": encoder} for state in ("pooled", "pointer") for encoder in ("frozen", "tuned")],
)
def test_a_policy_learns_and_comes_back_from_its_folder_as_it_was(
    explored: Explored, encoder_folder: Path, tmp_path: Path, changes: dict[str, Any]
) -> None:
    settings = replace(BRIEF, size=replace(SMALL, **changes), epochs=8, learning_rate=5e-3)
    torch.manual_seed(0)
    fresh = DecisionPolicy.fresh(settings.size, StateEncoder(TextEncoder(encoder_folder)))
    before = evaluate(fresh, explored.episodes, settings)
    own = StateEncoder(TextEncoder(encoder_folder))
    policy = train(settings, explored.episodes, explored.episodes, tmp_path, encoder=own)
    after = evaluate(policy, explored.episodes, settings)
    assert after.actions < 0.8 * before.actions
    assert after.worths < before.worths
    loaded = DecisionPolicy.load(tmp_path, StateEncoder(TextEncoder(encoder_folder)))
    assert evaluate(loaded, explored.episodes, settings) == pytest.approx(after, abs=1e-3)


def test_what_a_frozen_encoder_remembers_serves_the_next_policy(
    explored: Explored, encoder: StateEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(BRIEF, explored.episodes, explored.episodes, tmp_path, encoder=encoder)
    monkeypatch.setattr(encoder.text, "forward", None)  # encoding anything anew would fail
    evaluate(DecisionPolicy.load(tmp_path, encoder), explored.episodes, BRIEF)


def test_the_same_seed_gives_the_same_losses(explored: Explored, encoder: StateEncoder, tmp_path: Path) -> None:
    losses = [
        evaluate(
            train(replace(BRIEF, seed=seed), explored.episodes, explored.episodes, tmp_path / name, encoder=encoder),
            explored.episodes,
            BRIEF,
        )
        for name, seed in (("one", 0), ("same", 0), ("other", 1))
    ]
    assert losses[0] == losses[1] != losses[2]


class _CutOff(Exception):
    pass


@pytest.mark.parametrize("tuned", ["frozen", "tuned"])
def test_a_run_that_was_cut_off_goes_on_to_the_same_end(
    explored: Explored,
    encoder_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tuned: Literal["frozen", "tuned"],
) -> None:
    settings = replace(BRIEF, size=replace(SMALL, encoder=tuned))

    def run(name: str) -> bytes:
        encoder = StateEncoder(TextEncoder(encoder_folder))
        train(settings, explored.episodes, explored.episodes, tmp_path / name, encoder=encoder)
        return (tmp_path / name / "weights.safetensors").read_bytes()

    whole, epoch = run("whole"), training._epoch
    with monkeypatch.context() as patched:

        def until_the_second(run: training._Run, *rest: object) -> None:
            if run.epoch == 2:
                raise _CutOff
            epoch(run, *rest)  # type: ignore[arg-type]

        patched.setattr(training, "_epoch", until_the_second)
        with pytest.raises(_CutOff):
            run("cut")
    assert run("cut") == whole
    assert sorted(path.name for path in (tmp_path / "cut").iterdir()) == ["card.json", "weights.safetensors"]


def test_training_ends_when_the_held_out_episodes_gain_nothing(
    explored: Explored, encoder: StateEncoder, tmp_path: Path
) -> None:
    settings = replace(BRIEF, learning_rate=0.0, weight_decay=0.0, epochs=20, patience=2)
    train(settings, explored.episodes, explored.episodes, tmp_path, encoder=encoder)
    assert '"epochs": 3,' in (tmp_path / "card.json").read_text()


def test_the_papers_size_trains_and_comes_back(explored: Explored, encoder: StateEncoder, tmp_path: Path) -> None:
    size = Size(layers=6, heads=8, width=768)
    few = explored.episodes.of({"c0", "p0"})
    policy = train(Settings(size, "dense", epochs=1), few, few, tmp_path, encoder=encoder)
    assert policy.parameters > 40_000_000
    loaded = DecisionPolicy.load(tmp_path, encoder)
    assert evaluate(loaded, few, Settings(size)) == evaluate(policy, few, Settings(size))


def test_a_folder_of_something_else_is_refused_with_a_reason(encoder: StateEncoder, tmp_path: Path) -> None:
    with pytest.raises(BadArtifact, match="holds no weights"):
        DecisionPolicy.load(tmp_path, encoder)
    DecisionPolicy.fresh(SMALL, encoder).save(tmp_path, {})
    card = tmp_path / "card.json"
    card.write_text(card.read_text().replace('"width": 32', '"width": 64'))
    with pytest.raises(BadArtifact, match="holds no decision transformer"):
        DecisionPolicy.load(tmp_path, encoder)
