from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import stamina

from connectors.protocol import ConnectorContext
from domain.search_index import SearchIndex
from models.retrieval.boolean import BooleanIndex
from tests.replay.platforms import NOW
from tests.replay.server import Answer, ReplayServer, Request, serving


@pytest.fixture(autouse=True)
def quick_retries() -> Iterator[None]:
    """As many attempts as in earnest, without the waits between them."""
    with stamina.set_testing(True, attempts=3):
        yield


@pytest.fixture
def context(tmp_path: Path) -> ConnectorContext:
    def index_for(kind: object) -> SearchIndex:
        return BooleanIndex()

    return ConnectorContext("feed", "salt", lambda: NOW, tmp_path, index_for)


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[Request], Answer]], ReplayServer]]:
    with ExitStack() as stack:
        yield lambda answer: stack.enter_context(serving(answer))
