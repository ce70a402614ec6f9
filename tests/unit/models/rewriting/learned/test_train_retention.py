import gzip
import json
from math import log
from pathlib import Path

import pytest
import torch

from models.evaluation.collections import ClaimCollection
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.learned.train_retention import (
    Example,
    RetentionNetwork,
    dev_surprise,
    fit,
    held_words,
    surprise,
    to_examples,
    training_claims,
)

TOWNS = ["Lindmouth", "Ardbeck", "Corrie", "Dunmore", "Eastvale", "Fenwick"]


def collection() -> ClaimCollection:
    """Posts about a claim keep its town and its poison, never its mayor."""
    claims = {f"c{n}": f"The mayor of {town} put fluoride in water" for n, town in enumerate(TOWNS)}
    posts = {f"p{n}": f"fluoride!! {town} people beware" for n, town in enumerate(TOWNS)}
    return ClaimCollection(claims | {"silent": "is it not?"}, qrels(posts), posts | {"other": "is it?"})


def qrels(posts: dict[str, str]) -> dict[str, set[str]]:
    return {f"c{n}": {post} for n, post in enumerate(posts)} | {"silent": {"other"}}


def network() -> RetentionNetwork:
    torch.manual_seed(0)
    return RetentionNetwork()


@pytest.fixture(scope="module")
def examples(statistics: WordFrequency) -> list[Example]:
    return to_examples(network().layers, collection(), statistics)


def fitted(examples: list[Example], seed: int = 0) -> tuple[dict[str, torch.Tensor], list[float], float]:
    """Weights, surprises by epoch, and the surprise before."""
    given = network()
    before = dev_surprise(given, examples)
    torch.manual_seed(seed)
    return *fit(given, examples, examples, seed=seed, epochs=3, say=lambda line: None), before


def test_which_words_a_post_holds_is_told_by_their_stems() -> None:
    held = held_words(["Vaccines", "covid-19", "mayor"], ["a vaccine for Covid, 19 of them", "mayors", ""])
    assert held.tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_a_claim_without_content_words_is_no_example(examples: list[Example]) -> None:
    assert len(examples) == len(TOWNS)
    for example in examples:
        assert example.held.shape == (1, len(example.read.features))
        assert 0 < example.held.sum() < example.held.numel()


def test_surprise_is_the_likelihood_of_a_mixture() -> None:
    logits = torch.tensor([[0.0, 5.0], [0.0, -5.0], [9.0, 9.0]])  # of three words, one of them padding
    shares = torch.tensor([0.25, 0.75])
    held = torch.tensor([[1.0, 0.0]])
    sure = 1 / (1 + torch.exp(torch.tensor(-5.0)))
    expected = -log(0.25 * 0.25 + 0.75 * float(sure) ** 2)
    assert float(surprise(logits, shares.log(), held)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.long
def test_training_makes_posts_less_surprising_and_the_same_seed_gives_the_same_weights(
    examples: list[Example],
) -> None:
    kept, surprises, before = fitted(examples)
    assert before > surprises[0] > surprises[-1]
    again, same, _ = fitted(examples)
    assert same == surprises
    assert kept.keys() == again.keys()
    assert all(torch.equal(kept[name], again[name]) for name in kept)
    other, _, _ = fitted(examples, seed=1)
    assert any(not torch.equal(kept[name], other[name]) for name in kept)


def test_the_epoch_that_surprises_least_is_kept(examples: list[Example]) -> None:
    given = network()
    kept, surprises = fit(given, examples, examples, seed=0, epochs=2, say=lambda line: None)
    given.load_state_dict(kept)
    assert dev_surprise(given, examples) == pytest.approx(min(surprises), abs=1e-4)


def write(path: Path, *rows: dict[str, str]) -> None:
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Four training claims: one is a dev claim's copy, the post of another is a copy of a test post."""
    folder = tmp_path / "discovery"
    posts = {
        "p1": "Onions worn in socks overnight cure the flu, says my aunt",
        "p2": "The lake of Ardbeck has turned green because of paint",
        "p3": "they put microchips in the new bank notes, check yours today!!",
        "p4": "nobody may sell bread on Sundays from next year on",
        "d1": "Tap water in Corrie is full of lead, do not drink it",
        "t1": "They put microchips in the new bank notes: check yours today",
    }
    write(folder / "posts.jsonl.gz", *({"id": id_, "text": text} for id_, text in posts.items()))
    claims = {
        "train": {
            "v1": ("Onions in socks cure the flu", "p1"),
            "v2": ("The mayor of Corrie said that tap water is safe", "p2"),
            "v3": ("Bank notes hold chips", "p3"), "v4": ("Bread may not be sold on Sundays", "p4"),
        },
        "dev": {"v5": ("The mayor of Corrie said that tap water is safe.", "d1")},
        "test2021": {"v6": ("A politician wants to chip people", "t1")},
    }  # fmt: skip
    for split, rows in claims.items():
        (folder / f"{split}.claims.tsv").write_text("".join(f"{id_}\t{text}\n" for id_, (text, _) in rows.items()))
        (folder / f"{split}.qrels.tsv").write_text("".join(f"{id_}\t0\t{post}\t1\n" for id_, (_, post) in rows.items()))
    write(tmp_path / "checkthat2022" / "vclaims.jsonl.gz", {"vclaim_id": "v1", "title": "No cure"})
    write(tmp_path / "factchecktweet" / "articles.jsonl.gz", {"vclaim_id": "a1", "title": "Another article"})
    for split in ("train", "dev", "test"):
        (tmp_path / "factchecktweet" / f"{split}.qrels.tsv").write_text("1\t0\ta1\t1\n")
    return tmp_path


def test_training_claims_that_are_or_whose_posts_are_copies_of_held_out_ones_are_left_out(data: Path) -> None:
    kept, left_out = training_claims(data)
    assert set(kept.qrels) == {"v1", "v4"}
    assert left_out == 2
