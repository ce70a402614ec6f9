"""A service that asks the language model too, as `match.second_opinion` sets it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import pipeline
from daemon.doctor import examine
from daemon.importing import import_file
from daemon.intake.reader import ReadOptions
from daemon.preparation import prepare
from daemon.service import Service
from daemon.settings import MatchSettings, Settings
from daemon.wiring import open_service

CLAIMS = (
    "Schools in Lindmouth stay shut until May because of the flood.",
    "The library in Lindmouth stays shut until May because of the flood.",
)


@pytest.fixture
def asking(settings: Settings, tmp_path: Path) -> Iterator[Service]:
    chosen = settings.model_copy(update={"match": MatchSettings(second_opinion=True)})
    with open_service(chosen) as service:
        file = tmp_path / "checks.jsonl"
        rows = [{"url": f"https://fc.example/{n}", "claim": claim, "rating": "False"} for n, claim in enumerate(CLAIMS)]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        import_file(service, file, ReadOptions())
        prepare(service)
        yield service


def test_matches_say_that_the_language_model_was_asked(asking: Service) -> None:
    with asking.database.connection() as conn:
        conn.execute(
            "INSERT INTO posts (platform, platform_id, text, created_at, fetched_at)"
            " VALUES ('x', '1', '#Lindmouth schools shut until May!! the flood, no lessons for the kids', now(), now())"
        )
    pipeline.match_posts(asking, None)
    with asking.database.connection() as conn:
        found = conn.execute(
            "SELECT f.key, m.model FROM matches m JOIN fact_checks f ON f.id = m.fact_check_id"
            " ORDER BY m.confidence DESC"
        ).fetchall()
    assert found[0][0] == "fc.example/0"
    assert "+SmolLM2-135M tuned@" in found[0][1]


def test_doctor_tries_the_language_model(asking: Service) -> None:
    findings = {finding.part: finding for finding in examine(asking.settings)}
    assert findings["second opinion"].state == "live"
    assert findings["second opinion"].detail.startswith("SmolLM2-135M tuned@")


def test_doctor_leaves_out_what_is_not_set(settings: Settings) -> None:
    assert "second opinion" not in {finding.part for finding in examine(settings)}
