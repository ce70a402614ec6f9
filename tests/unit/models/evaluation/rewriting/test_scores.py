import random
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from domain.errors import BadInput
from domain.query import EndpointKind, Query, Term, all_words_query
from models.evaluation.boolean_platform import SampledPlatform
from models.evaluation.collections import ClaimCollection
from models.evaluation.rewriting.query_files import written
from models.evaluation.rewriting.scores import Scores, best, score_boolean, score_dense, score_ranked, scored_claims
from models.retrieval.analyser import Analyser
from models.retrieval.bm25 import BM25Index
from models.rewriting.rewards.boolean import BooleanRewards
from models.rewriting.rewards.dense import DenseRewards
from models.rewriting.rewards.impacts import index_texts
from models.rewriting.rewards.ranked import RankedRewards

STANDARD = Analyser(stem=False)
WORDS = [f"w{number}" for number in range(30)]


def text(draw: random.Random, most: int) -> str:
    return " ".join(WORDS[int(draw.paretovariate(0.7)) % 30] for _ in range(draw.randint(1, most)))


@pytest.fixture
def collection() -> ClaimCollection:
    """Claims 0 and 1 share their gold; claim 9 has none."""
    draw = random.Random(3)
    posts = {f"p{number}": text(draw, 12) for number in range(80)}
    claims = {str(number): text(draw, 6) for number in range(10)}
    qrels = {claim: set(draw.sample(sorted(posts), draw.randint(1, 3))) for claim in claims}
    return ClaimCollection(claims, qrels | {"1": qrels["0"], "9": set()}, posts)


def ranked(collection: ClaimCollection) -> RankedRewards:
    return RankedRewards(index_texts(collection.posts, STANDARD, k1=1.2, b=0.75))


def average_precision(found: Sequence[str], gold: set[str]) -> float:
    ranks = [rank for rank, id_ in enumerate(found[:50], 1) if id_ in gold]
    return sum(number / rank for number, rank in enumerate(ranks, 1)) / len(gold)


def test_repeated_words_are_worth_what_weights_are(collection: ClaimCollection) -> None:
    """The peer is the plain index, which multiplies by the weights."""
    draw = random.Random(4)
    index = BM25Index(STANDARD, k1=1.2, b=0.75)
    index.add(list(collection.posts), list(collection.posts.values()))
    queries = {
        claim: Query(EndpointKind.RANKED, tuple((Term(word, draw.randint(1, 9) / 4),) for word in of.split()), "any")
        for claim, of in collection.claims.items()
    }
    scores = score_ranked(collection, ranked(collection), STANDARD, written({c: [q] for c, q in queries.items()}))
    for claim in scored_claims(collection):
        found = [hit.id for hit in index.search(queries[claim], 50)]
        assert scores.of("ap@50")[claim] == pytest.approx(average_precision(found, collection.qrels[claim]), abs=1e-6)


def test_a_claim_without_a_query_is_worth_nothing_and_counts(collection: ClaimCollection) -> None:
    every = {claim: [of] for claim, of in collection.claims.items()}
    whole = score_ranked(collection, ranked(collection), STANDARD, every)
    del every["0"]
    scores = score_ranked(collection, ranked(collection), STANDARD, every | {"2": []})
    assert scores.claims == tuple("012345678")
    assert not scores.values[[0, 2]].any() and whole.values[[0, 2]].any(axis=1).all()
    assert np.array_equal(scores.values[3:], whole.values[3:])
    assert scores.mean("ap@50") == pytest.approx(scores.values[:, 0].sum() / 9)


def test_claims_of_the_same_gold_keep_their_own_scores(collection: ClaimCollection) -> None:
    gold = min(collection.qrels["0"])
    queries = {"0": ["nowhere"], "1": [collection.posts[gold]]}
    scores = score_ranked(collection, ranked(collection), STANDARD, queries)
    assert scores.of("ap@50")["0"] == 0 < scores.of("ap@50")["1"]


def test_dense_texts_are_embedded_in_one_call(collection: ClaimCollection) -> None:
    asked: list[int] = []

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.append(len(texts))
        return np.array([[of.count(word) + 0.01 for word in WORDS] for of in texts], dtype=np.float32)

    engine = DenseRewards(encode, list(collection.posts), encode(list(collection.posts.values())))
    scores = score_dense(collection, engine, encode, {claim: [of] for claim, of in collection.claims.items()})
    assert asked[1] == len(collection.claims)
    vectors = encode(list(collection.posts.values()))
    for claim in scores.claims:
        [query] = encode([collection.claims[claim]])
        cosines = np.round(vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query), 6)
        found = sorted(collection.posts, key=lambda id_: (-cosines[int(id_[1:])], id_))
        assert scores.of("ap@50")[claim] == pytest.approx(average_precision(found, collection.qrels[claim]))


def test_boolean_scores_are_those_of_the_platform(collection: ClaimCollection) -> None:
    draw = random.Random(5)
    queries = {
        claim: [all_words_query(tuple(draw.sample(WORDS[:8], draw.randint(1, 3))), policy="any") for _ in range(2)]
        for claim in collection.claims
    }
    scores = score_boolean(collection, BooleanRewards(collection.posts), written(queries))
    platform = SampledPlatform(collection.posts)
    for row, claim in enumerate(scores.claims):
        worth = platform.expected(queries[claim], collection.qrels[claim])
        assert scores.values[row] == pytest.approx([worth.f2, worth.recall, worth.reads])
    assert scores.values.any()


def test_queries_of_another_kind_are_refused(collection: ClaimCollection) -> None:
    with pytest.raises(BadInput, match="several"):
        score_ranked(collection, ranked(collection), STANDARD, {"0": ["w1", "w2"]})
    with pytest.raises(BadInput, match="boolean"):
        score_ranked(collection, ranked(collection), STANDARD, {"0": [[["w1"]]]})
    with pytest.raises(BadInput, match="OR groups"):
        score_boolean(collection, BooleanRewards(collection.posts), {"0": ["w1"]})


def test_a_gain_is_paired_and_the_best_row_has_the_highest_mean() -> None:
    claims, metrics = tuple(map(str, range(40))), ("ap@50",)
    base = np.random.default_rng(0).random((40, 1))
    rows = {"claim": Scores(claims, metrics, base), "ours": Scores(claims, metrics, base + 0.01)}
    gain = rows["ours"].gain_over(rows["claim"], seed=0)
    assert (gain.low, gain.high) == pytest.approx((0.01, 0.01))
    assert best(rows) == "ours"
