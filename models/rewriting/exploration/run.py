"""Explores a whole claim set: in parts of a few claims, by several processes or a cluster, and goes on where it was
cut off. Each part has its own random numbers, so that the outcome does not depend on who does it when."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from domain.errors import BadInput
from domain.query import EndpointKind
from models.evaluation.claim_sets import content_hash, load_claims
from models.evaluation.collections import ClaimCollection
from models.rewriting.exploration import manifest
from models.rewriting.exploration.breadth_first import Limits
from models.rewriting.exploration.records import Part, is_written

if TYPE_CHECKING:
    from models.backbone import EncoderChoice
    from models.rewriting.exploration.environments import Explorer
    from models.rewriting.rewards.boolean import SubsetPool

_CLAIMS_A_PART = 50
_ANSWER_S = 5
_MOST_REMEMBERED = 32_000_000  # bytes: claims share no texts, and joblib ends a process that keeps growing
_BEST_SUBSETS = 300  # of a claim's words, and as many others

AnalyserName = Literal["standard", "english"]  # every word as it is; stemmed, without stop words


@dataclass(frozen=True, slots=True)
class Plan:
    """What is explored. `analyser` is the ranked index's, `scale` the boolean platform's, `encoder` the dense one's."""

    data: Path
    claim_set: str
    split: str
    endpoint: EndpointKind
    limits: Limits = field(default_factory=Limits)
    analyser: AnalyserName = "standard"
    scale: float = 100.0
    encoder: "EncoderChoice" = None
    cache: Path | None = None  # for the posts' embeddings
    most_claims: int | None = None  # the first so many
    seed: int = 0

    def manifest(self, collection: ClaimCollection, metrics: Sequence[str], claims: int) -> dict[str, Any]:
        return {
            "claim_set": self.claim_set, "split": self.split, "endpoint": self.endpoint.value,
            "data_sha256": content_hash(collection), "claims": claims, "metrics": list(metrics),
            "limits": asdict(self.limits), "index": self._index(), "seed": self.seed, "claims_a_part": _CLAIMS_A_PART,
        }  # fmt: skip

    def _index(self) -> dict[str, Any]:
        if self.endpoint is EndpointKind.RANKED:
            return {"k1": 1.2, "b": 0.75, "analyser": self.analyser}
        if self.endpoint is EndpointKind.BOOLEAN:
            return {"scale": self.scale, "reads": 100}
        return {"encoder": Path(self.encoder).name if self.encoder else "packaged"}


@dataclass(frozen=True, slots=True)
class Opened:
    """What a process needs, made once in it."""

    collection: ClaimCollection
    claims: tuple[str, ...]
    explorer: "Explorer"


@dataclass(frozen=True, slots=True)
class PartDone:
    claims: int
    evaluations: int


def run(plan: Plan, folder: Path, *, jobs: int = 1, cluster: str | None = None) -> Iterator[PartDone]:
    """Explore what the folder lacks, part by part; what each part came to, in any order, those at hand first.

    `cluster` is the address of a Dask scheduler; else `jobs` processes of this machine do it. Raises BadInput.
    """
    own = opened(plan)
    with _backend(cluster):  # first: a cluster that does not answer leaves no folder behind
        manifest.begin(folder, plan.manifest(own.collection, own.explorer.metrics, len(own.claims)))
        with_subsets = plan.endpoint is EndpointKind.BOOLEAN
        parts = range(-(-len(own.claims) // _CLAIMS_A_PART))
        missing = [number for number in parts if not is_written(folder, number, with_subsets=with_subsets)]
        at_hand = sum(len(_claims_of(own.claims, number)) for number in parts if number not in set(missing))
        if at_hand:
            yield PartDone(at_hand, 0)
        if jobs == 1 and cluster is None:
            yield from (_explore_part(plan, folder, number) for number in missing)
            return
        from joblib import Parallel, delayed

        yield from Parallel(n_jobs=jobs if cluster is None else -1, return_as="generator_unordered")(
            delayed(_explore_part)(plan, folder, number) for number in missing
        )


def claims(plan: Plan) -> int:
    """How many claims there are to explore: those that have gold texts."""
    return len(opened(plan).claims)


@contextmanager
def _backend(cluster: str | None) -> Iterator[None]:
    if cluster is None:
        yield
        return
    from joblib import parallel_config

    try:
        from dask.distributed import Client
    except ImportError as exc:
        raise BadInput("a cluster needs dask: pip install 'claimwatch[cluster]'") from exc
    try:
        client = Client(cluster, timeout=_ANSWER_S)
    except (OSError, TimeoutError, ValueError) as exc:
        raise BadInput(f"the cluster at {cluster} does not answer ({exc}): give the address of its scheduler") from exc
    with client, parallel_config(backend="dask"):
        yield


def _claims_of(claims: Sequence[str], number: int) -> Sequence[str]:
    return claims[number * _CLAIMS_A_PART : (number + 1) * _CLAIMS_A_PART]


def _explore_part(plan: Plan, folder: Path, number: int) -> PartDone:
    # A part makes a hundred thousand states and no cycles: looking for some took a third of the time.
    gc.disable()
    try:
        return _explored(plan, folder, number)
    finally:
        gc.enable()


def _explored(plan: Plan, folder: Path, number: int) -> PartDone:
    from models.rewriting.exploration.environments import BooleanExplorer
    from models.rewriting.tagging import tag

    own = opened(plan)
    collection, explorer = own.collection, own.explorer
    chosen = _claims_of(own.claims, number)
    rng = np.random.default_rng([plan.seed, number])
    part, evaluations = Part(explorer.metrics), 0
    for claim, tokens in zip(chosen, tag([collection.claims[claim] for claim in chosen]), strict=True):
        found = explorer(tokens, collection.qrels[claim], plan.limits, rng)
        evaluations += found.evaluations
        part.add(claim, found)
        if isinstance(explorer, BooleanExplorer):
            pool = explorer.subsets(tokens, collection.qrels[claim])
            evaluations += pool.covered
            _add_subsets(part, claim, pool, rng)
    part.write(folder, number)
    return PartDone(len(chosen), evaluations)


def _add_subsets(part: Part, claim: str, pool: "SubsetPool", rng: np.random.Generator) -> None:
    order = np.argsort(-pool.found.f2, kind="stable")
    others = order[_BEST_SUBSETS:]
    chosen = [*order[:_BEST_SUBSETS], *rng.choice(others, min(_BEST_SUBSETS, len(others)), replace=False)]
    part.add_subsets(claim, pool.words, pool.found.subsets[chosen].tolist(), pool.found.f2[chosen].tolist())


@lru_cache(maxsize=1)
def opened(plan: Plan) -> Opened:
    """Everything that exploring the plan needs, once a process."""
    collection = load_claims(plan.data, plan.claim_set, plan.split)
    claims = tuple(claim for claim in collection.claims if collection.qrels.get(claim))[: plan.most_claims]
    if not claims:
        raise BadInput(
            f"{plan.claim_set}/{plan.split} in {plan.data} holds no claim with gold texts: nothing to explore"
        )
    return Opened(collection, claims, _EXPLORERS[plan.endpoint](plan, collection))


def _ranked(plan: Plan, collection: ClaimCollection) -> "Explorer":
    from models.retrieval.analyser import ENGLISH, Analyser
    from models.rewriting.exploration.environments import RankedExplorer
    from models.rewriting.rewards.impacts import index_texts
    from models.rewriting.rewards.ranked import RankedRewards

    analyser = ENGLISH if plan.analyser == "english" else Analyser(stem=False)
    return RankedExplorer(RankedRewards(index_texts(collection.posts, analyser, k1=1.2, b=0.75)), analyser)


def _dense(plan: Plan, collection: ClaimCollection) -> "Explorer":
    from models.backbone import Encoder
    from models.evaluation.vectors import cached_vectors
    from models.rewriting.exploration.environments import DenseExplorer
    from models.rewriting.rewards.dense import DenseRewards, RecentVectors

    encoder = Encoder.load(plan.encoder)
    vectors = cached_vectors(list(collection.posts.values()), encoder, plan.cache)
    return DenseExplorer(DenseRewards(RecentVectors(encoder.encode, _MOST_REMEMBERED), list(collection.posts), vectors))


def _boolean(plan: Plan, collection: ClaimCollection) -> "Explorer":
    from models.retrieval.boolean import BooleanIndex
    from models.rewriting.boolean_edits import BooleanEdits
    from models.rewriting.exploration.environments import BooleanExplorer
    from models.rewriting.rewards.boolean import BooleanRewards

    index = BooleanIndex()
    index.add(list(collection.posts), list(collection.posts.values()))
    return BooleanExplorer(BooleanRewards(collection.posts, scale=plan.scale), BooleanEdits(index))


_EXPLORERS: dict[EndpointKind, Callable[[Plan, ClaimCollection], "Explorer"]] = {
    EndpointKind.RANKED: _ranked, EndpointKind.DENSE: _dense, EndpointKind.BOOLEAN: _boolean,
}  # fmt: skip
