"""The connector that docs/connectors.md shows, run as it stands there."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from connectors.protocol import Connector, ConnectorContext
from domain.query import Query, all_words_query
from models.retrieval.boolean import BooleanIndex
from tests.unit.connectors.contract import ConnectorContract

DOCS = Path(__file__).parents[3] / "docs" / "connectors.md"


def code() -> str:
    found = re.search(r"```python\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    assert found
    return found[1]


def test_the_example_is_short() -> None:
    assert len([line for line in code().splitlines() if line.strip()]) <= 60


class TestExample(ConnectorContract):
    @pytest.fixture
    def connector(self, tmp_path: Path) -> Connector:
        names: dict[str, Any] = {"__name__": "board"}
        exec(compile(code(), str(DOCS), "exec"), names)
        now = datetime(2026, 11, 28, tzinfo=UTC)
        context = ConnectorContext("board", "salt", lambda: now, tmp_path, lambda kind: BooleanIndex())
        built: Connector = names["build"]({}, context)
        return built

    @pytest.fixture
    def query(self) -> Query:
        return all_words_query(("water", "banned"), policy="test")

    @pytest.fixture
    def fruitless(self) -> Query:
        return all_words_query(("zebra",), policy="test")
