"""A connector that could not be set up: every request of it fails with the reason, and nothing else does."""

import traceback

import pytest

from connectors.protocol import SearchFailed
from connectors.unusable import UnusableConnector
from domain.outcome import Unavailable
from domain.query import EndpointKind, Query, Term
from tests.unit.connectors.contract import EVER, ODD_TEXTS, query_of

WHY = "connectors.feed.options.client_id is missing: give it"


def failure(connector: UnusableConnector) -> SearchFailed:
    with pytest.raises(SearchFailed) as failed:
        connector.gone(["1"])
    return failed.value


def test_each_failure_is_a_new_one_whose_traceback_does_not_grow() -> None:
    connector = UnusableConnector("feed", WHY)
    first, second = failure(connector), failure(connector)
    assert first is not second
    assert first.outcome == second.outcome == Unavailable(WHY)
    assert len(traceback.extract_tb(first.__traceback__)) == len(traceback.extract_tb(second.__traceback__))
    (compiled,) = connector.compile(query_of(EndpointKind.BOOLEAN, "water"))
    with pytest.raises(SearchFailed, match="client_id"):
        connector.search(compiled, EVER, None)
    with pytest.raises(SearchFailed, match="client_id"):
        connector.estimate(compiled, EVER)


@pytest.mark.parametrize("kind", EndpointKind)
def test_a_query_of_any_kind_and_shape_compiles(kind: EndpointKind) -> None:
    connector = UnusableConnector("feed", WHY)
    for text in ODD_TEXTS:
        assert connector.compile(query_of(kind, text))
    assert connector.compile(Query(kind, ((), (Term("water"),)), "test"))[0].syntax == "water"
    assert connector.compile(Query(kind, ((),), "test")) == []
    assert connector.compile(Query(kind, (), "test")) == []
