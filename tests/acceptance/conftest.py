"""The command as people run it: the installed console script, in a process and a data folder of its own."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import start_server

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
def home() -> Iterator[Path]:
    """A short path, since it holds a socket; readable, since Postgres runs as a user of its own.

    The server is kept running between the commands, which would otherwise start and stop it each.
    """
    with tempfile.TemporaryDirectory(prefix="cw-") as folder:
        Path(folder).chmod(0o755)
        server = start_server(Path(folder) / "postgres")
        yield Path(folder)
        server.cleanup()


@pytest.fixture(scope="module")
def environment(home: Path) -> Environment:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CLAIMWATCH_HOME": str(home),
        "CLAIMWATCH_LOG__LEVEL": "WARNING",
        "CLAIMWATCH_SEARCH__POLICY": "rarest",  # loads no model; tests of the default policy say so
    }


@pytest.fixture
def claimwatch(environment: Environment, tmp_path: Path) -> Claimwatch:
    """Runs one command in an empty folder."""

    def run(*arguments: str, timeout_s: float = 120, **changes: str) -> Answer:
        done = subprocess.run(
            [script(), *arguments], env=environment | {"COLUMNS": "200"} | changes, cwd=tmp_path, timeout=timeout_s,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Answer(done.returncode, done.stdout, done.stderr)

    return run
