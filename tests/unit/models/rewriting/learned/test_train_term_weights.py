from collections.abc import Callable

import numpy as np
import pytest
import torch

from domain.query import EndpointKind, text_query
from models.backbone import Encoder
from models.evaluation.collections import ClaimCollection
from models.evaluation.rewriting.endpoints import K1, B
from models.retrieval.bm25 import BM25Index
from models.rewriting.learned.dense_lists import DenseExample
from models.rewriting.learned.listwise import Example, Lists
from models.rewriting.learned.ranked_lists import RankedExample
from models.rewriting.learned.term_weights import to_weights
from models.rewriting.learned.train_term_weights import (
    SOURCES,
    WeightNetwork,
    fit,
    gain,
    to_examples,
)

SOURCE = SOURCES["posts"][0]
TOWNS = ["Lindmouth", "Ardbeck", "Corrie", "Dunmore", "Eastvale", "Fenwick"]
KINDS = [EndpointKind.RANKED, EndpointKind.DENSE]

ListsOf = Callable[[EndpointKind], Lists]


def collection() -> ClaimCollection:
    """What is sought has the town of a claim, what competes has the rest of it."""
    claims = {f"c{n}": f"Officials said quickly that {town} sold land" for n, town in enumerate(TOWNS)}
    posts = {f"p{n}": f"{town} sold all of it, they are mad {n}" for n, town in enumerate(TOWNS)}
    noise = {f"n{n}": f"officials said quickly that land was fine {n}" for n in range(3)}
    others = {f"o{n}": f"a cat slept on mat {n}" for n in range(40)}
    return ClaimCollection(claims, {f"c{n}": {f"p{n}"} for n in range(len(TOWNS))}, posts | noise | others)


@pytest.fixture(scope="module")
def lists() -> ListsOf:
    made = {kind: SOURCE.lists(kind, collection()) for kind in KINDS}
    return made.__getitem__


def network() -> WeightNetwork:
    torch.manual_seed(0)
    return WeightNetwork()


def examples_of(lists: Lists) -> list[Example]:
    given = collection()
    return to_examples(network().layers, given, list(given.qrels), lists)


def fitted(examples: list[Example], epochs: int = 40) -> tuple[WeightNetwork, list[dict[str, float]]]:
    given = network()
    torch.manual_seed(1)
    return given, fit(given, examples, {"these": examples}, seed=0, epochs=epochs, say=lambda line: None)


def lead(given: WeightNetwork, examples: list[Example]) -> float:
    """Of what is sought over the best of the rest, on average."""
    given.train(False)
    with torch.no_grad():
        scores = [example.scores(given([example.read])[0]) for example in examples]
    leads = [of[ex.gold].max() - of[~ex.gold].max() for of, ex in zip(scores, examples, strict=True)]
    return float(torch.stack(leads).mean())


def test_ranked_scores_with_weights_of_one_are_those_of_the_claim_as_it_is(lists: ListsOf) -> None:
    given = collection()
    peer = BM25Index(SOURCE.analyser, k1=K1, b=B)
    peer.add(list(given.posts), list(given.posts.values()))
    for example, (claim, gold) in zip(examples_of(lists(EndpointKind.RANKED)), given.qrels.items(), strict=True):
        assert isinstance(example, RankedExample)
        scores = example.scores(torch.zeros(example.terms.shape[1]))
        ranked = peer.search(text_query(EndpointKind.RANKED, given.claims[claim], policy="claim"), len(given.posts))
        expected = sorted((hit.score for hit in ranked), reverse=True)
        found = sorted(scores[scores > 0].tolist(), reverse=True)
        np.testing.assert_allclose(found, expected, rtol=2e-3)
        assert int(example.gold.sum()) == len(gold) == example.relevant


def test_dense_scores_with_weights_of_one_are_the_encoders_cosines(lists: ListsOf) -> None:
    given, encoder = collection(), Encoder.load()
    posts = encoder.encode(list(given.posts.values()))
    for example, claim in zip(examples_of(lists(EndpointKind.DENSE)), given.qrels, strict=True):
        assert isinstance(example, DenseExample)
        scores = example.scores(torch.zeros(len(example.words)))
        cosines = posts @ encoder.encode([given.claims[claim]])[0]
        np.testing.assert_allclose(scores.numpy() * 0.05, cosines[example.listed.numpy()], atol=1e-5)
        (right,) = example.listed[example.gold].tolist()
        assert list(given.posts)[right] in given.qrels[claim]


@pytest.mark.parametrize("kind", KINDS)
def test_at_first_every_word_counts_as_it_is_and_nothing_is_gained(kind: EndpointKind, lists: ListsOf) -> None:
    examples, given = examples_of(lists(kind)), network().train(False)
    with torch.no_grad():
        weights = to_weights(given([examples[0].read]))
    assert torch.equal(weights, torch.ones_like(weights))
    assert gain(network(), examples) == 0


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_training_raises_what_is_sought_and_the_same_seed_gives_the_same_weights(
    kind: EndpointKind, lists: ListsOf
) -> None:
    examples = examples_of(lists(kind))
    trained, gains = fitted(examples)
    again, same = fitted(examples)
    assert lead(trained, examples) > lead(network(), examples) + 0.5
    assert gains == same
    state, repeated = trained.state_dict(), again.state_dict()
    assert all(torch.equal(state[name], repeated[name]) for name in state)


def test_words_that_no_text_has_make_a_ranked_example_without_terms(lists: ListsOf) -> None:
    given = ClaimCollection({"c": "Zyx wvu"}, {"c": {"p0"}}, collection().posts)
    (example,) = to_examples(network().layers, given, ["c"], SOURCE.lists(EndpointKind.RANKED, given))
    assert isinstance(example, RankedExample)
    assert example.terms.shape == (0, 2)
    assert not example.scores(torch.zeros(2)).any()
    assert gain(network(), [example]) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_claim_without_words_is_no_example(kind: EndpointKind, lists: ListsOf) -> None:
    given = ClaimCollection({"c": "🚰"}, {"c": {"p0"}}, collection().posts)
    assert to_examples(network().layers, given, ["c"], lists(kind)) == []
