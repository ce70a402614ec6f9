"""Vectors by two encoders are never compared: those in the database are made anew for the one in use."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from daemon import pipeline
from daemon.doctor import examine
from daemon.importing import import_file
from daemon.intake.reader import ReadOptions
from daemon.preparation import prepare, renew_vectors
from daemon.service import Service
from daemon.store import fact_checks
from models.backbone import Encoder
from tests.integration.conftest import MakeService

CLAIM = "Lindmouth has banned fluoride in tap water."


@pytest.fixture
def service(make_service: MakeService, tmp_path: Path) -> Service:
    """Its fact-checks have vectors by the packaged encoder."""
    service = make_service()
    file = tmp_path / "checks.jsonl"
    claims = (CLAIM, "Onions worn in socks overnight cure the flu.")
    rows = [{"url": f"https://fc.example/{n}", "claim": c, "rating": "False"} for n, c in enumerate(claims)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_file(service, file, ReadOptions())
    prepare(service)
    return service


@pytest.fixture
def other(service: Service, make_service: MakeService) -> Service:
    """On the same database, with an encoder of another version, which says the opposite of all."""
    chosen = make_service()
    encoder = service.encoder
    turned = replace(encoder, version="another", _mean_states=lambda texts: -encoder._mean_states(texts))
    chosen.load_encoder = lambda: turned
    return chosen


def vectors_by(service: Service, encoder: Encoder) -> list[bool]:
    with service.database.connection() as conn:
        stored = fact_checks.all_prepared(conn, encoder.version, encoder.dim)
    return [bool(vector.any()) for vector in stored.vectors]


def test_vectors_of_another_encoder_are_not_given_out(service: Service, other: Service) -> None:
    assert vectors_by(service, service.encoder) == [True, True]
    assert vectors_by(service, other.encoder) == [False, False]


def test_vectors_of_another_encoder_are_made_anew_before_a_post_is_compared(
    service: Service, other: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with service.database.connection() as conn:
        before = service.matcher(conn)
        conn.execute(
            "INSERT INTO posts (platform, platform_id, text, created_at, fetched_at)"
            " VALUES ('x', '1', 'they banned fluoride in Lindmouth tap water', now(), now())"
        )
    assert pipeline.match_posts(other, None) == 1
    assert [r.waiting for r in caplog.records if "wait for vectors" in r.message] == [2]  # type: ignore[attr-defined]
    assert vectors_by(service, other.encoder) == [True, True]
    with service.database.connection() as conn:
        (key, cosine, model) = (
            conn.execute(
                "SELECT f.key, (m.scores ->> 'cosine')::float, m.model FROM matches m"
                " JOIN fact_checks f ON f.id = m.fact_check_id"
            ).fetchone()
            or ()
        )
        after = service.matcher(conn)
    assert (key, model.endswith("+another")) == ("fc.example/0", True)
    assert cosine > 0.8, "both vectors are of the one encoder"
    assert after is not before, "what was read before holds no vectors that are there no more"
    assert prepare(service).ready == 0, "no fact-check is a new one by it"
    assert renew_vectors(service) == 2, "the first encoder, used again, finds the other's"
    assert vectors_by(service, service.encoder) == [True, True]


def test_doctor_tells_how_many_wait_and_what_the_confidences_were_fitted_with(service: Service) -> None:
    with service.database.connection() as conn:
        conn.execute("UPDATE fact_checks SET encoder = 'old' WHERE key = 'fc.example/0'")
    details = {finding.part: finding.detail for finding in examine(service.settings)}
    assert "; 1 fact-check waits for vectors by it" in details["encoder"]
    assert "encoder" not in details["confidence"]


def test_confidences_fitted_with_another_encoder_are_warned_of_once(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    encoder = replace(service.encoder, version="one that is warned of")
    with service.database.connection() as conn:
        stored = fact_checks.all_prepared(conn, encoder.version, encoder.dim)
    for chosen in (service.encoder, encoder, encoder):
        service.build_matcher(stored, chosen)
    (record,) = [r for r in caplog.records if r.message == "confidences were fitted with another encoder"]
    assert record.used == encoder.version  # type: ignore[attr-defined]
