"""`claimwatch run` as a service: it works by itself and ends well when it is asked to."""

import json
import signal
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.acceptance.conftest import Claimwatch, Environment, script


def test_the_service_finds_posts_by_itself_and_sigterm_ends_it_with_exit_code_0(
    claimwatch: Claimwatch, environment: Environment, tmp_path: Path
) -> None:
    posts, checks = tmp_path / "posts.jsonl", tmp_path / "checks.jsonl"
    created_at = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    texts = ["owls banned from Quillhaven park", "Brindlemoor bakers melt plastic spoons into dough"]
    rows = [{"id": str(i), "text": text, "created_at": created_at} for i, text in enumerate(texts)]
    posts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    write_claim(checks, "https://fc.example/owls", "Owls are banned from Quillhaven park.")
    assert claimwatch("import", str(checks)).code == 0
    options = {"posts": str(posts), "kind": "boolean"}
    service = environment | {
        "CLAIMWATCH_CONNECTORS": json.dumps({"local": {"type": "simulated", "options": options}}),
        "CLAIMWATCH_SERVICE__TICK_S": "1",
    }
    with subprocess.Popen([script(), "run"], env=service, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for_matches(claimwatch, 1)
            # What comes in later is found by a later tick, while the worker of the same process is at work.
            write_claim(checks, "https://fc.example/spoons", "Brindlemoor's bakers melt plastic spoons into the dough.")
            assert claimwatch("import", str(checks)).code == 0
            wait_for_matches(claimwatch, 2)
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0


def write_claim(file: Path, url: str, claim: str) -> None:
    file.write_text(json.dumps({"url": url, "claim": claim, "rating": "False"}) + "\n")


def wait_for_matches(claimwatch: Claimwatch, number: int) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if json.loads(claimwatch("status", "--json").out)["matches"] == number:
            return
        time.sleep(0.5)
    raise AssertionError("the service matched nothing")
