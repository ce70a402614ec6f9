import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from connectors.protocol import Connector, ConnectorContext, Window
from connectors.simulated.connector import SimulatedConnector, build
from connectors.simulated.posts_file import PostsFile
from domain.errors import BadSetting
from domain.post import Post
from domain.query import EndpointKind, Query
from domain.search_index import SearchIndex
from models.retrieval.bm25 import BM25Index
from models.retrieval.boolean import BooleanIndex
from models.retrieval.knn import KnnIndex
from tests.unit.connectors.contract import EVER, ConnectorContract, all_posts, query_of

START = datetime(2026, 11, 1, tzinfo=UTC)


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Bags of words in 64 places."""
    vectors = np.zeros((len(texts), 64), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.split():
            vectors[row, crc32(word.encode()) % 64] += 1
    return vectors


def new_index(kind: EndpointKind) -> SearchIndex:
    if kind is EndpointKind.BOOLEAN:
        return BooleanIndex()
    return BM25Index() if kind is EndpointKind.RANKED else KnnIndex(encode)


def posts(count: int, text: str = "tap water is banned") -> tuple[Post, ...]:
    """One an hour, numbered from the oldest."""
    return tuple(Post("demo", f"p{i:03}", f"{text} {i}", START + timedelta(hours=i)) for i in range(count))


def connector(
    kind: EndpointKind, given: tuple[Post, ...], *, page_size: int = 100, depth: int = 50
) -> SimulatedConnector:
    return SimulatedConnector("demo", new_index(kind), PostsFile(given, ()), page_size=page_size, depth=depth)


def found(given: Connector, text: str, window: Window = EVER) -> list[str]:
    (compiled,) = given.compile(query_of(given.kind, text))
    return [post.platform_id for post in all_posts(given, compiled, window)]


class SimulatedContract(ConnectorContract):
    kind: EndpointKind

    @pytest.fixture
    def connector(self) -> Connector:
        others = tuple(Post("demo", f"x{i}", "a cat sleeps", START + timedelta(minutes=i)) for i in range(20))
        return connector(self.kind, others + posts(25), page_size=10)

    @pytest.fixture
    def query(self) -> Query:
        return query_of(self.kind, "tap water")

    @pytest.fixture
    def fruitless(self) -> Query:
        # To a dense endpoint every text is some way off, unless the query says nothing.
        return query_of(self.kind, "" if self.kind is EndpointKind.DENSE else "zeppelin")


class TestBoolean(SimulatedContract):
    kind = EndpointKind.BOOLEAN


class TestRanked(SimulatedContract):
    kind = EndpointKind.RANKED


class TestDense(SimulatedContract):
    kind = EndpointKind.DENSE


def test_a_boolean_search_gives_all_that_match_the_newest_first() -> None:
    given = connector(EndpointKind.BOOLEAN, posts(120))
    assert found(given, "tap water") == [f"p{i:03}" for i in reversed(range(120))]


@pytest.mark.parametrize("kind", [EndpointKind.RANKED, EndpointKind.DENSE])
def test_other_searches_give_the_best_of_the_window_down_to_the_depth(kind: EndpointKind) -> None:
    mixed = posts(100, "cat") + tuple(
        Post("demo", f"w{i:03}", "tap water" + " cat" * (i % 7), START + timedelta(days=10, hours=i))
        for i in range(300)
    )
    given = connector(kind, mixed, depth=20)
    window = Window(START + timedelta(days=20), START + timedelta(days=22))
    inside = {post.platform_id for post in mixed if window.since <= post.created_at < window.until}
    index = new_index(kind)
    index.add([post.platform_id for post in mixed], [post.text for post in mixed])
    ranking = [hit.id for hit in index.search(query_of(kind, "tap water"), len(mixed))]
    assert found(given, "tap water", window) == [id_ for id_ in ranking if id_ in inside][:20]


def test_the_index_is_filled_at_the_first_search_only() -> None:
    index = BooleanIndex()
    given = SimulatedConnector("demo", index, PostsFile(posts(3), ()))
    assert len(index) == 0
    assert found(given, "water") == found(given, "water") == ["p002", "p001", "p000"]
    assert len(index) == 3


def test_notices_of_the_file_come_with_the_first_page_ten_at_most() -> None:
    file = PostsFile(posts(20), tuple(f"row {i}" for i in range(13)))
    given = SimulatedConnector("demo", BooleanIndex(), file, page_size=10)
    (compiled,) = given.compile(query_of(given.kind, "water"))
    first = given.search(compiled, EVER, None)
    assert first.notices == (*(f"row {i}" for i in range(10)), "and 3 more records of the file")
    assert given.search(compiled, EVER, first.cursor).notices == ()


def test_what_a_simulated_platform_allows() -> None:
    policy = connector(EndpointKind.BOOLEAN, posts(1)).policy
    assert (policy.may_train, policy.keep_days, policy.recheck_hours, policy.quote_characters) == (True,) + (None,) * 3


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "posts.jsonl"
    rows = [{"id": i, "text": "tap water", "created_at": "2026-11-02T10:00:00Z"} for i in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def options(file: Path, **changes: str) -> dict[str, str]:
    return {"posts": str(file)} | changes


@pytest.fixture
def context(tmp_path: Path) -> ConnectorContext:
    return ConnectorContext("local", "s", lambda: START, tmp_path, new_index)


@pytest.mark.parametrize("kind", list(EndpointKind))
def test_it_is_built_from_options(file: Path, kind: EndpointKind, context: ConnectorContext) -> None:
    built = build(options(file, kind=kind.value, page_size="2"), context)
    assert (built.name, built.kind, built.limits.page_size) == ("local", kind, 2)
    assert len(found(built, "water")) == 3


def test_posts_without_a_date_get_the_one_of_the_options(tmp_path: Path, context: ConnectorContext) -> None:
    path = tmp_path / "posts.jsonl"
    path.write_text('{"id": "1", "text": "tap water"}\n')
    built = build(options(path, undated="2026-11-20T12:00:00"), context)
    (compiled,) = built.compile(query_of(built.kind, "water"))
    assert all_posts(built, compiled)[0].created_at == datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"kind": "fuzzy"}, "options.kind: Input should be 'ranked', 'dense' or 'boolean': correct it"),
        ({"page_size": "0"}, "options.page_size: Input should be greater than 0: correct it"),
        ({"page_size": "ten"}, "options.page_size: Input should be a valid integer"),
        ({"undated": "soon"}, "options.undated: Input should be a valid datetime"),
        ({"colour": "blue"}, "options.colour: no such option"),
    ],
)
def test_a_wrong_option_is_refused_by_name(
    file: Path, context: ConnectorContext, changes: dict[str, str], complaint: str
) -> None:
    with pytest.raises(BadSetting, match=complaint):
        build(options(file, **changes), context)


def test_an_option_that_must_be_there_is_asked_for(context: ConnectorContext) -> None:
    with pytest.raises(BadSetting, match=r"^connectors\.local\.options\.posts is missing: give it$"):
        build({}, context)
