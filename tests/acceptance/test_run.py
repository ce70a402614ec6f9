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
    posts.write_text(
        json.dumps({"id": "1", "text": "owls banned from Quillhaven park", "created_at": created_at}) + "\n"
    )
    claim = {"url": "https://fc.example/owls", "claim": "Owls are banned from Quillhaven park.", "rating": "False"}
    checks.write_text(json.dumps(claim) + "\n")
    assert claimwatch("import", str(checks)).code == 0
    options = {"posts": str(posts), "kind": "boolean"}
    service = environment | {
        "CLAIMWATCH_CONNECTORS": json.dumps({"local": {"type": "simulated", "options": options}}),
        "CLAIMWATCH_SERVICE__TICK_S": "1",
    }
    with subprocess.Popen([script(), "run"], env=service, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for_match(claimwatch)
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0


def wait_for_match(claimwatch: Claimwatch) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if json.loads(claimwatch("status", "--json").out)["matches"] == 1:
            return
        time.sleep(0.5)
    raise AssertionError("the service matched nothing")
