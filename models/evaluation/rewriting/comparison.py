"""The learned policy's queries beside the claims as they are, before one kind of endpoint."""

from dataclasses import dataclass
from pathlib import Path

from domain.errors import BadInput
from domain.query import EndpointKind, Query
from models.evaluation.bootstrap import Interval
from models.evaluation.claim_sets import load_claims
from models.evaluation.rewriting.endpoints import ENDPOINTS, open_score
from models.evaluation.rewriting.learned_rows import claim_of, learned_rows, queries_of
from models.evaluation.rewriting.query_files import written
from models.evaluation.rewriting.scores import scored_claims
from models.ranking.encoder import TextEncoder
from models.rewriting.plain import ClaimAsItIs

_SEED = 0


@dataclass(frozen=True, slots=True)
class Row:
    """`gain` is of the first metric, over the claims as they are."""

    name: str
    means: dict[str, float]
    gain: Interval


def compare(data: Path, claims: str, kind: EndpointKind, *, encoder: TextEncoder, cache: Path) -> list[Row]:
    """`claims`: set/split. Raises BadInput for a set, split or kind of endpoint that there is not."""
    name, _, split = claims.partition("/")
    collection = load_claims(data, name, split)
    if kind not in ENDPOINTS[name]:
        raise BadInput(f"{name} is searched for before {', '.join(ENDPOINTS[name])} endpoints only")
    score, asked = open_score(name, kind, collection, encoder, cache), scored_claims(collection)

    def as_it_is(claim: str) -> list[Query]:
        return queries_of(ClaimAsItIs(kind).next(claim_of(collection, claim), ()))

    rows = {"claim": as_it_is, **learned_rows(name, kind, collection)}
    scores = {row: score(written({claim: make(claim) for claim in asked})) for row, make in rows.items()}
    return [
        Row(row, {m: found.mean(m) for m in found.metrics}, found.gain_over(scores["claim"], seed=_SEED))
        for row, found in scores.items()
    ]
