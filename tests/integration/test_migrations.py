"""The schema: applied whole or not at all, and checked before anything else runs."""

import psycopg
import pytest

from domain.errors import SchemaMismatch
from migrations import runner


def test_an_empty_database_comes_up_to_date_and_a_second_run_does_nothing(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn) as conn:
        assert runner.migrate(conn) == [*(step.name for step in runner.steps()), "job_queue"]
        assert runner.migrate(conn) == []
        runner.check(conn)


def test_an_empty_database_is_refused_with_the_command_that_helps(empty_dsn: str) -> None:
    with psycopg.connect(empty_dsn) as conn, pytest.raises(SchemaMismatch, match="claimwatch migrate"):
        runner.check(conn)


def test_a_newer_database_is_refused_by_older_code(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute("INSERT INTO schema_steps (number, name, sha256) VALUES (9999, 'from_the_future', '')")
        for refuse in (runner.check, runner.migrate):
            with pytest.raises(SchemaMismatch, match=r"step 9999.*install the newer version"):
                refuse(conn)


def test_a_step_that_was_reworded_after_it_was_applied_is_refused(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute("UPDATE schema_steps SET sha256 = 'other' WHERE number = 1")
        with pytest.raises(SchemaMismatch, match="0001_create_tables was applied in another wording"):
            runner.check(conn)


def test_a_step_that_fails_leaves_nothing_behind(empty_dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = runner.Step(2, "break", "CREATE TABLE half (id int); SELECT 1 / 0;")
    monkeypatch.setattr(runner, "steps", lambda: [runner.Step(1, "fine", "CREATE TABLE whole (id int)"), broken])
    with psycopg.connect(empty_dsn) as conn:
        with pytest.raises(psycopg.errors.DivisionByZero):
            runner.migrate(conn)
        assert conn.execute("SELECT to_regclass('whole'), to_regclass('half')").fetchone() == (None, None)
