import numpy as np
import pytest
import torch

from domain.query import EndpointKind, text_query
from models.evaluation.collections import ClaimCollection
from models.evaluation.rewriting.endpoints import K1, B
from models.retrieval.bm25 import BM25Index
from models.retrieval.word_frequency import WordFrequency
from models.rewriting.learned.term_weights import to_weights
from models.rewriting.learned.train_term_weights import (
    SOURCES,
    Example,
    WeightNetwork,
    fit,
    gain,
    to_examples,
)
from models.rewriting.rewards.impacts import ImpactIndex, index_texts

SOURCE = SOURCES["posts"][0]
TOWNS = ["Lindmouth", "Ardbeck", "Corrie", "Dunmore", "Eastvale", "Fenwick"]


def collection() -> ClaimCollection:
    """What is sought has the town of a claim, what competes has the rest of it."""
    claims = {f"c{n}": f"Officials said quickly that {town} sold land" for n, town in enumerate(TOWNS)}
    posts = {f"p{n}": f"{town} sold all of it, they are mad {n}" for n, town in enumerate(TOWNS)}
    noise = {f"n{n}": f"officials said quickly that land was fine {n}" for n in range(3)}
    others = {f"o{n}": f"a cat slept on mat {n}" for n in range(40)}
    return ClaimCollection(claims, {f"c{n}": {f"p{n}"} for n in range(len(TOWNS))}, posts | noise | others)


@pytest.fixture(scope="module")
def index() -> ImpactIndex:
    return index_texts(collection().posts, SOURCE.analyser, k1=K1, b=B)


def network() -> WeightNetwork:
    torch.manual_seed(0)
    return WeightNetwork()


@pytest.fixture(scope="module")
def examples(index: ImpactIndex, statistics: WordFrequency) -> list[Example]:
    given = collection()
    return to_examples(network().layers, given, list(given.qrels), index, SOURCE)


def fitted(examples: list[Example], epochs: int = 40) -> tuple[WeightNetwork, list[dict[str, float]]]:
    given = network()
    torch.manual_seed(1)
    return given, fit(given, examples, {"these": examples}, seed=0, epochs=epochs, say=lambda line: None)


def test_scores_with_weights_of_one_are_those_of_the_claim_as_it_is(examples: list[Example]) -> None:
    given = collection()
    peer = BM25Index(SOURCE.analyser, k1=K1, b=B)
    peer.add(list(given.posts), list(given.posts.values()))
    for example, (claim, gold) in zip(examples, given.qrels.items(), strict=True):
        scores = example.scores(torch.ones(example.terms.shape[1]))
        ranked = peer.search(text_query(EndpointKind.RANKED, given.claims[claim], policy="claim"), len(given.posts))
        expected = sorted((hit.score for hit in ranked), reverse=True)
        found = sorted(scores[scores > 0].tolist(), reverse=True)
        np.testing.assert_allclose(found, expected, rtol=2e-3)
        assert int(example.gold.sum()) == len(gold) == example.relevant


def test_at_first_every_word_counts_as_it_is_and_nothing_is_gained(examples: list[Example]) -> None:
    given = network().train(False)
    with torch.no_grad():
        weights = to_weights(given([examples[0].read]))
    assert torch.equal(weights, torch.ones_like(weights))
    assert gain(network(), examples) == 0


@pytest.mark.long
def test_training_raises_what_is_sought_and_the_same_seed_gives_the_same_weights(examples: list[Example]) -> None:
    trained, gains = fitted(examples)
    again, same = fitted(examples)
    assert max(of_epoch["these"] for of_epoch in gains) > 0.1
    assert gains == same
    state, repeated = trained.state_dict(), again.state_dict()
    assert all(torch.equal(state[name], repeated[name]) for name in state)


def test_words_that_no_text_has_make_an_example_without_terms(index: ImpactIndex, statistics: WordFrequency) -> None:
    given = ClaimCollection({"c": "Zyx wvu"}, {"c": {"p0"}}, collection().posts)
    (example,) = to_examples(network().layers, given, ["c"], index, SOURCE)
    assert example.terms.shape == (0, 2)
    assert not example.scores(torch.ones(2)).any()
    assert gain(network(), [example]) == 0


def test_a_claim_without_words_is_no_example(index: ImpactIndex, statistics: WordFrequency) -> None:
    given = ClaimCollection({"c": "🚰"}, {"c": {"p0"}}, collection().posts)
    assert to_examples(network().layers, given, ["c"], index, SOURCE) == []
