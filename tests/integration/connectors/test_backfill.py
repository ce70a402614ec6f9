"""Thirty days of a platform, read in pieces: wherever it is cut, each page is fetched once and nothing is missing."""

import json
import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from connectors.protocol import Connector, ConnectorContext
from daemon import pipeline
from daemon.importing import import_file
from daemon.intake.reader import ReadOptions
from daemon.preparation import prepare
from daemon.service import Service
from tests.integration.conftest import MakeService
from tests.integration.connectors import make
from tests.integration.connectors.platforms import Serve
from tests.replay.platforms import BlueskyServer, said
from tests.replay.server import ReplayServer

POSTS = 1440  # every half an hour of 30 days: 15 pages


class Killed(BaseException):
    """Stands for the death of the worker: nothing after it is carried out."""


@pytest.fixture
def service(make_service: MakeService, tmp_path: Path) -> Service:
    file = tmp_path / "checks.jsonl"
    file.write_text(json.dumps({"url": "https://fc.example/w", "claim": "Water is banned.", "rating": "False"}) + "\n")
    service = make_service()
    import_file(service, file, ReadOptions())
    prepare(service)
    patient = service.settings.search.model_copy(update={"reads_per_query": 10_000, "queries_per_claim": 1})
    service.settings = service.settings.model_copy(update={"search": patient})
    return service


@pytest.fixture
def platform(serve: Serve, context: ConnectorContext) -> Iterator[tuple[ReplayServer, Connector]]:
    server = serve(BlueskyServer(said(POSTS, text="water is banned in city", every=timedelta(minutes=30))))
    connector = make.make_bluesky(server.url, context)
    yield server, connector
    connector.close()


def cut_before(step: str, after: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the given call of a step on, the worker is dead; the function that brings it back to life."""
    whole: Any = getattr(pipeline, step)
    calls = 0

    def dying(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise Killed
        return whole(*args, **kwargs)

    monkeypatch.setattr(pipeline, step, dying)
    return lambda: monkeypatch.setattr(pipeline, step, whole)


def found(service: Service) -> list[tuple[Any, ...]]:
    with service.database.connection() as conn:
        return conn.execute("SELECT platform_id, text FROM posts ORDER BY platform_id").fetchall()


def test_cut_at_20_random_points_each_page_is_fetched_once_and_all_posts_are_there(
    service: Service, platform: tuple[ReplayServer, Connector], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, connector = platform
    service.connectors = {"feed": connector}
    generator, cuts = random.Random(5), 0
    for _ in range(20):
        # A page that was answered and not yet stored is lost with the worker: cut anywhere but there.
        revive = cut_before(generator.choice(["fetch_page", "match_posts"]), generator.randint(0, 1), monkeypatch)
        try:
            pipeline.search_watch(service, 1)
        except Killed:
            cuts += 1
        revive()
    pipeline.search_watch(service, 1)
    assert cuts == 20
    asked = [request.params.get("cursor") for request in server.asked("searchPosts")]
    assert len(asked) == len(set(asked)), "a page was fetched twice"
    assert len(found(service)) == POSTS
    with service.database.connection() as conn:
        assert conn.execute("SELECT outcome, posts FROM searches").fetchall() == [("found", POSTS)]


def test_a_page_that_was_answered_but_not_stored_is_fetched_again_and_counted_once(
    service: Service, platform: tuple[ReplayServer, Connector], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, connector = platform
    service.connectors = {"feed": connector}
    revive = cut_before("_store", 1, monkeypatch)
    with pytest.raises(Killed):
        pipeline.search_watch(service, 1)
    revive()
    pipeline.search_watch(service, 1)
    asked = [request.params.get("cursor") for request in server.asked("searchPosts")]
    assert sorted(asked.count(cursor) for cursor in set(asked))[-2:] == [1, 2]
    assert len(found(service)) == POSTS
