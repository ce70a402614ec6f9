"""A database that is down or newer, a folder that cannot be written, a setting that is wrong: one line, exit code 2."""

import json

import psycopg

from tests.acceptance.conftest import Claimwatch


def test_a_database_that_is_down_is_named_without_its_password(claimwatch: Claimwatch) -> None:
    answer = claimwatch("status", DATABASE_URL="postgresql://watch:hunter2@127.0.0.1:9/claims")
    assert answer.code == 2
    assert "127.0.0.1:9" in answer.complaint
    assert "watch" in answer.complaint
    assert "hunter2" not in answer.out + answer.err


def test_a_database_that_is_newer_than_the_code_is_refused(claimwatch: Claimwatch, empty_dsn: str) -> None:
    assert claimwatch("migrate", DATABASE_URL=empty_dsn).code == 0
    with psycopg.connect(empty_dsn) as conn:
        conn.execute("INSERT INTO schema_steps (number, name, sha256) VALUES (9999, 'from_the_future', '')")
    answer = claimwatch("status", DATABASE_URL=empty_dsn)
    assert answer.code == 2
    assert "newer" in answer.complaint


def test_an_empty_database_is_refused_with_the_command_that_helps(claimwatch: Claimwatch, empty_dsn: str) -> None:
    answer = claimwatch("status", DATABASE_URL=empty_dsn)
    assert answer.code == 2
    assert "claimwatch migrate" in answer.complaint


def test_a_data_folder_that_cannot_be_written_is_named_with_the_setting(claimwatch: Claimwatch) -> None:
    answer = claimwatch("status", CLAIMWATCH_HOME="/proc/claimwatch")
    assert answer.code == 2
    assert "/proc/claimwatch" in answer.complaint
    assert "CLAIMWATCH_HOME" in answer.complaint


def test_wrong_settings_are_all_named_at_once(claimwatch: Claimwatch) -> None:
    answer = claimwatch("status", CLAIMWATCH_SEARCH__LOOKBACK_DAYS="soon", CLAIMWATCH_MAIL__TIMEOUT_S="-1")
    assert answer.code == 2
    assert "search.lookback_days" in answer.complaint
    assert "mail.timeout_s" in answer.complaint


def test_a_connector_that_nothing_provides_is_named_with_those_there_are(claimwatch: Claimwatch) -> None:
    given = '{"x": {"type": "carrier-pigeon"}}'
    answer = claimwatch("doctor", "--json", CLAIMWATCH_CONNECTORS=given)
    assert answer.code == 2
    (broken,) = [finding for finding in json.loads(answer.out) if finding["state"] == "broken"]
    assert broken["part"] == "connector x"
    assert "carrier-pigeon" in broken["detail"]
    assert "simulated" in broken["detail"]
    assert claimwatch("status", CLAIMWATCH_CONNECTORS=given).code == 0, "what needs no connector goes on"


def test_an_empty_claim_is_refused(claimwatch: Claimwatch) -> None:
    for command in ("rewrite", "search"):
        answer = claimwatch(command, "")
        assert answer.code == 2
        assert "empty claim" in answer.complaint
