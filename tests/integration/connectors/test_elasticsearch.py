"""Elasticsearch: what is special about it, and the contract against a server that speaks its wire format live."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

import pytest

from connectors.elasticsearch.connector import ElasticsearchConnector
from connectors.protocol import Connector, ConnectorContext, Removing, SearchFailed, Window
from connectors.records import pseudonym
from domain.outcome import Unavailable
from domain.post import Post
from domain.query import Query, text_query
from tests.integration.connectors import make
from tests.integration.connectors.platforms import Serve
from tests.replay.platforms import NOW, ElasticsearchServer, said
from tests.replay.server import Answer, ReplayServer
from tests.unit.connectors.contract import ConnectorContract, all_posts

WEEK = Window(NOW - timedelta(days=7), NOW)


def posts(number: int) -> list[Post]:
    return [Post("stream", p.id, p.text, p.at, author="a", language="en") for p in said(number)]


@pytest.fixture
def platform() -> ElasticsearchServer:
    return ElasticsearchServer([])


@pytest.fixture
def server(platform: ElasticsearchServer, serve: Serve) -> ReplayServer:
    return serve(platform)


@pytest.fixture
def connector(server: ReplayServer, context: ConnectorContext) -> Iterator[ElasticsearchConnector]:
    made = make.make_elasticsearch(server.url, context)
    assert isinstance(made, ElasticsearchConnector)
    yield made
    made.close()


def test_a_post_that_the_server_refuses_is_named_and_the_others_are_indexed(
    connector: ElasticsearchConnector, platform: ElasticsearchServer
) -> None:
    platform.refuse = frozenset({"3"})
    assert list(connector.add(posts(5))) == ["3: failed to parse field [created_at]"]
    assert set(platform.indexed) == {"1", "2", "4", "5"}


def test_a_server_that_is_not_there_is_unavailable_while_indexing(context: ConnectorContext) -> None:
    nowhere = make.make_elasticsearch("http://127.0.0.1:9", context)
    assert isinstance(nowhere, ElasticsearchConnector)
    with pytest.raises(SearchFailed, match="unavailable"):
        list(nowhere.add(posts(1)))
    nowhere.close()


def test_removed_posts_are_gone(connector: ElasticsearchConnector, platform: ElasticsearchServer) -> None:
    list(connector.add(posts(3)))
    connector.remove(["2"])
    assert connector.gone(["1", "2", "3"]) == {"2"}


def test_removing_a_post_that_is_not_there_is_no_failure(
    connector: ElasticsearchConnector, platform: ElasticsearchServer
) -> None:
    assert isinstance(connector, Removing)
    list(connector.add(posts(3)))
    connector.remove(["2", "never-was"])
    connector.remove([])
    assert set(platform.indexed) == {"1", "3"}


def test_a_post_that_the_server_keeps_is_a_failure_to_remove_and_the_others_go(
    connector: ElasticsearchConnector, platform: ElasticsearchServer
) -> None:
    list(connector.add(posts(3)))
    platform.refuse = frozenset({"1"})
    with pytest.raises(SearchFailed, match=r"1 of 3 posts could not be removed: 1: failed to parse") as failed:
        connector.remove(["1", "2", "3"])
    assert isinstance(failed.value.outcome, Unavailable)
    assert set(platform.indexed) == {"1"}


def test_the_posts_of_an_author_go_and_no_others(
    connector: ElasticsearchConnector, platform: ElasticsearchServer, context: ConnectorContext
) -> None:
    mine, other = posts(3)[:2], posts(3)[2]
    list(connector.add([*(replace(post, author=pseudonym("Ann", context.salt)) for post in mine), other]))
    platform.refuse = frozenset({mine[0].platform_id})
    with pytest.raises(SearchFailed, match="do it again"):
        connector.remove_author("Ann")
    platform.refuse = frozenset()
    connector.remove_author("Ann")
    assert set(platform.indexed) == {other.platform_id}


def test_removing_from_an_index_that_is_missing_or_a_server_that_is_not_there_fails(
    connector: ElasticsearchConnector, context: ConnectorContext, server: ReplayServer
) -> None:
    error = {"type": "index_not_found_exception", "reason": "no such index [claimwatch-posts]"}
    items = [{"delete": {"_id": "1", "status": 404, "error": error}}]
    server.fail(Answer({"errors": True, "items": items}, headers=ElasticsearchServer.HEADERS), path="_bulk")
    with pytest.raises(SearchFailed, match="no such index"):
        connector.remove(["1"])
    server.fail(Answer({"error": "x"}, 500, ElasticsearchServer.HEADERS), path="_bulk")
    with pytest.raises(SearchFailed, match="unavailable: the server answered 500"):
        connector.remove(["1"])
    nowhere = make.make_elasticsearch("http://127.0.0.1:9", context)
    assert isinstance(nowhere, ElasticsearchConnector)
    with pytest.raises(SearchFailed, match="unavailable"):
        nowhere.remove(["1"])
    nowhere.close()


PARTS = [
    ({"_shards": {"total": 5, "successful": 3, "failed": 2}}, "2 of 5 shards failed"),
    ({"timed_out": True}, "ran out of time"),
]


@pytest.mark.parametrize(("part", "why"), PARTS)
def test_an_answer_of_some_shards_only_is_never_taken_for_the_whole(
    connector: ElasticsearchConnector, server: ReplayServer, part: dict[str, object], why: str
) -> None:
    list(connector.add(posts(3)))
    compiled = connector.compile(text_query(connector.kind, "water", policy="test"))[0]
    body = {"pit_id": "pit0", "count": 0, "hits": {"hits": []}, **part}
    for path, ask in (("_search", connector.search), ("_count", connector.estimate)):
        server.fail(Answer(body, headers=ElasticsearchServer.HEADERS), path=path, times=3)
        with pytest.raises(SearchFailed, match=why) as failed:
            ask(compiled, WEEK, None) if path == "_search" else ask(compiled, WEEK)  # type: ignore[call-arg]
        assert isinstance(failed.value.outcome, Unavailable)
    assert all(r.params["allow_partial_search_results"] == "false" for r in server.asked("_search"))


@pytest.mark.parametrize("hits", [{}, {"hits": {}}, {"hits": {"hits": None}}, {"hits": {"hits": [{"_id": "1"}] * 40}}])
def test_an_answer_without_hits_is_none(
    connector: ElasticsearchConnector, server: ReplayServer, hits: dict[str, object]
) -> None:
    compiled = connector.compile(text_query(connector.kind, "water", policy="test"))[0]
    server.fail(Answer(hits, headers=ElasticsearchServer.HEADERS), path="_search")
    with pytest.raises(SearchFailed, match="it lacks"):
        connector.search(compiled, WEEK, None)


def test_a_search_goes_on_after_its_point_in_time_has_passed(
    connector: ElasticsearchConnector, platform: ElasticsearchServer
) -> None:
    list(connector.add(posts(90)))
    compiled = connector.compile(text_query(connector.kind, "water", policy="test"))[0]
    first = connector.search(compiled, WEEK, None)
    platform.points.clear()
    second = connector.search(compiled, WEEK, first.cursor)
    assert len({post.platform_id for page in (first, second) for post in page.posts}) == 80


def test_points_in_time_are_closed_at_the_end(connector: ElasticsearchConnector, platform: ElasticsearchServer) -> None:
    list(connector.add(posts(90)))
    all_posts(connector, connector.compile(text_query(connector.kind, "water", policy="test"))[0], WEEK)
    assert not platform.points


@pytest.mark.parametrize("claim", ["Notre Dame d OR", "km/h (2019", '"ash'])
def test_t37_signs_and_operators_of_a_claim_are_its_words(connector: ElasticsearchConnector, claim: str) -> None:
    (compiled,) = connector.compile(text_query(connector.kind, claim, policy="test"))
    assert compiled.syntax.split() == claim.replace("/", " ").replace("(", "").replace('"', "").split()
    connector.add(posts(1))
    assert connector.search(compiled, WEEK, None).posts == ()


def test_t37_of_two_thousand_words_the_most_informative_1024_are_kept(connector: ElasticsearchConnector) -> None:
    words = [f"word{'x' * (i % 7)}{i}" for i in range(2000)]
    (compiled,) = connector.compile(text_query(connector.kind, " ".join(words), policy="test"))
    kept = compiled.syntax.split()
    assert len(kept) == 1024
    assert min(map(len, kept)) >= max(map(len, set(words) - set(kept)))
    assert sum("too long" in str(edit) for edit in compiled.query.trail) == 2000 - 1024


@pytest.fixture(scope="module")
def live_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An imitation of Elasticsearch, run for real: not a real cluster, but not our own reading of the format either."""
    spec = find_spec("noida_db")
    if spec is None or spec.origin is None:
        pytest.skip("noida-db is not installed")
    binary = Path(spec.origin).parent / "noida-db"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("noida")
    command = [
        str(binary),
        "start",
        "--only",
        "elasticsearch",
        "--elasticsearch-port",
        str(port),
        "--data-dir",
        str(folder),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
    shutil.rmtree(folder, ignore_errors=True)


def wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.skip("noida-db does not run on this machine")


def test_the_posts_of_an_author_go_from_a_server_that_runs(live_url: str, context: ConnectorContext) -> None:
    made = make.make_elasticsearch(live_url, context, index="posts-of-ann", api_key="")
    assert isinstance(made, ElasticsearchConnector)
    mine, other = posts(3)[:2], posts(3)[2]
    assert list(made.add([*(replace(post, author=pseudonym("Ann", context.salt)) for post in mine), other])) == []
    made._client.indices.refresh(index="posts-of-ann")
    made.remove_author("Ann")
    assert made.gone([post.platform_id for post in (*mine, other)]) == {post.platform_id for post in mine}
    made.close()


class TestLive(ConnectorContract):
    @pytest.fixture
    def connector(self, live_url: str, context: ConnectorContext, request: pytest.FixtureRequest) -> Connector:
        index = f"posts-{abs(hash(request.node.name))}"
        made = make.make_elasticsearch(live_url, context, index=index, api_key="")
        assert isinstance(made, ElasticsearchConnector)
        assert list(made.add(posts(60))) == []
        made._client.indices.refresh(index=index)
        return made

    @pytest.fixture
    def query(self, connector: Connector) -> Query:
        return text_query(connector.kind, "water banned", policy="test")

    @pytest.fixture
    def fruitless(self, connector: Connector) -> Query:
        return text_query(connector.kind, "zebra", policy="test")


def test_the_command_puts_a_file_into_the_index_and_names_what_was_left_out(
    platform: ElasticsearchServer, serve: Serve, tmp_path: Path, server_home: Path
) -> None:
    platform.refuse = frozenset({"2"})
    rows = [{"id": str(n), "text": f"tap water {n}", "created_at": "2026-11-27T10:00:00Z"} for n in range(1, 4)]
    file = tmp_path / "posts.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"id": "4"}\n')
    options = {"url": serve(platform).url}
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(server_home), "CLAIMWATCH_HOME": str(server_home),
        "CLAIMWATCH_CONNECTORS": json.dumps({"team": {"type": "elasticsearch", "options": options}}),
    }  # fmt: skip
    command = [str(Path(sys.executable).parent / "claimwatch"), "index", "team", str(file)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert set(platform.indexed) == {"1", "3"}
    assert "2 posts indexed" in done.stdout
    assert "2: failed to parse field [created_at]" in done.stderr
    assert "row 4" in done.stderr
