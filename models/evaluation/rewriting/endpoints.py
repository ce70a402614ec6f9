"""The endpoints that rewriting is measured at, by claim set, each built for a collection and asked by query files."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from domain.query import EndpointKind
from models.evaluation.collections import ClaimCollection
from models.evaluation.rewriting.query_files import Queries
from models.evaluation.rewriting.scores import Scores, score_boolean, score_dense, score_ranked
from models.evaluation.rewriting.text_vectors import KeptVectors
from models.evaluation.vectors import cached_vectors
from models.ranking.encoder import TextEncoder
from models.retrieval.analyser import ENGLISH, Analyser
from models.rewriting.rewards.boolean import BooleanRewards
from models.rewriting.rewards.dense import DenseRewards, RecentVectors
from models.rewriting.rewards.impacts import index_texts
from models.rewriting.rewards.ranked import RankedRewards

K1, B = 1.2, 0.75
SCALE, READS = 100, 100  # of the boolean platform

STANDARD = Analyser(stem=False)
ANALYSERS: Mapping[str, Analyser] = {"fever": STANDARD, "fm2": STANDARD, "discovery": ENGLISH}
ENDPOINTS: Mapping[str, tuple[EndpointKind, ...]] = {
    "fever": (EndpointKind.RANKED, EndpointKind.DENSE),
    "fm2": (EndpointKind.RANKED, EndpointKind.DENSE),
    "discovery": (EndpointKind.RANKED, EndpointKind.BOOLEAN),
}


Score = Callable[[Queries], Scores]


def ranked_score(collection: ClaimCollection, analyser: Analyser) -> Score:
    engine = RankedRewards(index_texts(collection.posts, analyser, k1=K1, b=B))
    return partial(score_ranked, collection, engine, analyser)


def dense_score(collection: ClaimCollection, encoder: TextEncoder, cache: Path) -> Score:
    """The posts' embeddings and those of all queries asked are kept in the folder."""
    vectors = cached_vectors(list(collection.posts.values()), encoder, cache)
    encode = RecentVectors(KeptVectors(encoder, cache))
    return partial(score_dense, collection, DenseRewards(encode, list(collection.posts), vectors), encode)


def boolean_score(collection: ClaimCollection) -> Score:
    return partial(score_boolean, collection, BooleanRewards(collection.posts, scale=SCALE, reads=READS))


def open_score(name: str, kind: EndpointKind, collection: ClaimCollection, encoder: TextEncoder, cache: Path) -> Score:
    """What scores queries of a claim set before a kind of endpoint."""
    if kind is EndpointKind.RANKED:
        return ranked_score(collection, ANALYSERS[name])
    return dense_score(collection, encoder, cache) if kind is EndpointKind.DENSE else boolean_score(collection)
