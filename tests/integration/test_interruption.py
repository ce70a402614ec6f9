"""Killed before any of its transactions and started again, the service ends with the same posts, matches and mails."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from daemon import digest, outbox, pipeline
from daemon.delivery import FolderPostman
from daemon.importing import import_file
from daemon.intake.reader import ReadOptions
from daemon.preparation import prepare
from daemon.service import Service
from daemon.store import mailing, watches
from models.backbone import Encoder
from tests.integration.conftest import NOW, MakeService
from tests.integration.test_pipeline import checks_file, count, mails, posts_file, subscribe

__all__ = ["checks_file", "posts_file"]  # fixtures

TABLES = ("posts", "matches", "searches", "queries", "digests", "outbox")


class Killed(BaseException):
    """Stands for the process ending at this very point."""


def live(service: Service, checks: Path) -> None:
    """What the queue does, without the queue."""
    import_file(service, checks, ReadOptions())
    prepare(service)
    subscribe(service)
    with service.database.connection() as conn:
        due = watches.due(conn, now=NOW, limit=100)
        subscriptions = mailing.due_subscriptions(conn, NOW)
    for watch in due:
        pipeline.search_watch(service, watch)
    for subscription in subscriptions:
        digest.make_digest(service, subscription)
    outbox.send_outbox(service, FolderPostman(service.settings.home / "outbox"))


def outcome(service: Service) -> tuple[list[str], dict[str, int]]:
    return mails(service), {table: count(service, table) for table in TABLES}


class KilledAt:
    """The database's connections, until the n-th is asked for."""

    def __init__(self, service: Service, n: int | None) -> None:
        self._connection = service.database.connection
        self._left = n
        self.used = 0

    @contextmanager
    def __call__(self) -> Iterator[psycopg.Connection]:
        self.used += 1
        if self.used == self._left:
            raise Killed
        with self._connection() as conn:
            yield conn


@pytest.fixture
def each_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same few texts are embedded after every kill; what they become is the same too."""
    encode: Callable[[Encoder, Sequence[str]], NDArray[np.float32]] = Encoder.encode
    known: dict[str, NDArray[np.float32]] = {}

    def remember(encoder: Encoder, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, encode(encoder, new), strict=True))
        return np.array([known[text] for text in texts], dtype=np.float32).reshape(len(texts), encoder.dim)

    monkeypatch.setattr(Encoder, "encode", remember)


@pytest.mark.long
@pytest.mark.usefixtures("each_text_once")
def test_every_transaction_can_be_the_last_before_a_kill(
    make_service: MakeService, posts_file: Path, checks_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = make_service(posts_file)
    counter = KilledAt(service, None)
    with monkeypatch.context() as patched:
        patched.setattr(service.database, "connection", counter)
        live(service, checks_file)
    expected, transactions = outcome(service), counter.used
    assert expected[1]["outbox"] == 2
    assert transactions > 20
    for n in range(1, transactions, 3):
        wipe(service)
        with monkeypatch.context() as patched:
            patched.setattr(service.database, "connection", KilledAt(service, n))
            with pytest.raises(Killed):
                live(service, checks_file)
        live(service, checks_file)
        assert outcome(service) == expected, f"killed before transaction {n}"


def wipe(service: Service) -> None:
    """Back to an empty store and outbox."""
    with service.database.connection() as conn:
        conn.execute("TRUNCATE fact_checks, subscriptions, posts, quarantine RESTART IDENTITY CASCADE")
    for file in (service.settings.home / "outbox").glob("*"):
        file.unlink()
