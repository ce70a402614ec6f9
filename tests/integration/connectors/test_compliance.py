"""Batch compliance jobs of X: one that takes long is taken up again, and no odd answer purges a post."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from connectors.protocol import Connector, ConnectorContext, SearchFailed
from connectors.x import compliance
from domain.outcome import Unavailable
from tests.integration.connectors import make
from tests.integration.connectors.platforms import Serve
from tests.replay.platforms import NOW, XServer, said
from tests.replay.server import Answer, ReplayServer


@pytest.fixture(autouse=True)
def one_look_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compliance, "_POLLS", 1)
    monkeypatch.setattr(compliance, "_BETWEEN_POLLS_S", 0.0)


@pytest.fixture
def platform() -> XServer:
    return XServer(said(3))


@pytest.fixture
def server(platform: XServer, serve: Serve) -> ReplayServer:
    server = serve(platform)
    platform.base_url = server.url
    return server


@pytest.fixture
def x(server: ReplayServer, context: ConnectorContext) -> Iterator[Connector]:
    connector = make.make_x(server.url, context)
    yield connector
    connector.close()


@pytest.fixture
def file(context: ConnectorContext) -> Path:
    return context.folder / "x-feed.compliance"


def fails(x: Connector, ids: list[str]) -> str:
    with pytest.raises(SearchFailed) as failed:
        x.gone(ids)
    assert isinstance(failed.value.outcome, Unavailable)
    return failed.value.outcome.why


def test_a_job_that_is_not_done_is_taken_up_again_by_the_next_process(
    x: Connector, platform: XServer, server: ReplayServer, file: Path, context: ConnectorContext
) -> None:
    platform.job_states = ["in_progress", "in_progress"]
    for _ in range(2):
        assert "not done yet" in fails(x, ["1", "9"])
    next_process = make.make_x(server.url, context)
    assert next_process.gone(["1", "9"]) == {"9"}
    next_process.close()
    assert platform.jobs == 1
    assert not file.exists()


def test_ids_that_the_open_job_does_not_cover_are_asked_for_by_another(x: Connector, platform: XServer) -> None:
    platform.job_states = ["in_progress"]
    fails(x, ["1", "8"])
    assert x.gone(["1", "8", "2", "9"]) == {"8", "9"}
    assert (platform.jobs, platform.uploaded) == (2, ["2", "9"])
    platform.job_states = ["in_progress", "complete", "in_progress"]
    fails(x, ["1", "8"])
    fails(x, ["1", "8", "2", "9"])
    platform.uploaded = ["2", "9"]
    assert x.gone(["1", "8", "2", "9"]) == {"8", "9"}, "what the first job said is not asked for a third time"
    assert platform.jobs == 4


@pytest.mark.parametrize("state", ["failed", "expired"])
def test_a_job_that_fails_purges_nothing_and_another_is_begun_next_time(
    x: Connector, platform: XServer, file: Path, state: str
) -> None:
    platform.job_states = ["in_progress", state]
    fails(x, ["9"])
    assert state in fails(x, ["9"])
    assert not file.exists()
    assert x.gone(["9"]) == {"9"}
    assert platform.jobs == 2


@pytest.mark.parametrize(
    "damaged", ["", "{", "[]", "7", '{"id": "1"}', '{"id": 1, "begun": "x", "ids": 3, "answers": 4}']
)
def test_a_damaged_file_is_no_job(x: Connector, platform: XServer, file: Path, damaged: str) -> None:
    file.write_text(damaged)
    assert x.gone(["1", "9"]) == {"9"}
    assert platform.jobs == 1


def test_the_answer_of_an_old_job_is_not_taken(
    x: Connector, platform: XServer, server: ReplayServer, context: ConnectorContext
) -> None:
    platform.job_states = ["in_progress"]
    fails(x, ["1"])
    platform.posts = []
    later = make.make_x(server.url, replace(context, clock=lambda: NOW + timedelta(hours=7)))
    assert later.gone(["1"]) == {"1"}
    assert platform.jobs == 2
    later.close()


ODD: list[tuple[str, object]] = [
    ("compliance/jobs", {}), ("compliance/jobs", {"data": None}), ("compliance/jobs", {"data": {"id": "1"}}),
    ("compliance/jobs", []), ("compliance/jobs/", {"data": {"status": ["complete"]}}), ("compliance/jobs/", {}),
    ("compliance/jobs/", {"data": {"status": "complete"}}), ("download", b"<html>Welcome</html>"),
    ("download", b'{"reason": "deleted"}\n'), ("download", b"[1]\n"), ("download", b"7\n"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "answer"), ODD)
def test_an_odd_answer_is_a_failure_and_never_posts_that_are_gone(
    x: Connector, server: ReplayServer, path: str, answer: object
) -> None:
    server.fail(Answer(answer), path=path)
    fails(x, ["1", "9"])
    assert x.gone(["1", "9"]) == {"9"}, "and the next time all is well"
