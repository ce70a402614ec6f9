"""The packaged policies still make the queries that the published figures were computed from."""

import os
from itertools import islice
from pathlib import Path

import pytest

from domain.query import EndpointKind
from models.evaluation.claim_sets import CLAIM_SETS, load_claims
from models.evaluation.rewriting.endpoints import ENDPOINTS
from models.evaluation.rewriting.learned_rows import learned_rows
from models.evaluation.rewriting.query_files import QueryFile, read_queries, written

DATA = Path(os.environ.get("CLAIMWATCH_DATA", "../shared/data"))
QUERIES = Path("bench") / "results" / "queries"
CLAIMS = 25

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not on this machine")


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kinds in ENDPOINTS.items() for kind in kinds])
def test_the_queries_of_a_slice_are_those_of_the_file(name: str, kind: EndpointKind) -> None:
    split = CLAIM_SETS[name].splits[-1]
    kept = read_queries(QueryFile(name, split, kind).path(QUERIES, "policy"))
    collection = load_claims(DATA, name, split)
    make = learned_rows(name, kind, collection)["policy"]
    made = written({claim: make(claim) for claim in islice(kept, CLAIMS)})
    # Another processor may round one weight of a claim the other way.
    assert sum(made[claim] == kept[claim] for claim in made) >= CLAIMS - 2
