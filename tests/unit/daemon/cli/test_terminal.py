"""Tables on narrow screens."""

from datetime import UTC, datetime

import pytest

from daemon.cli import terminal

CLAIM = "Tap water glows at night in every town of the valley, and nobody wants to say so in public."


def test_at_80_columns_times_numbers_and_states_stay_whole_and_sentences_fold(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    columns = ["id", "state", "next due (UTC)", "why", "verdict", "matches", "claim"]
    row = [12345, "active", datetime(2026, 11, 28, 15, 23, tzinfo=UTC), "rated false", "misleading", 12, CLAIM]
    terminal.say_table(columns, [row])
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    (first,) = [line for line in lines if "12345" in line]
    for whole in ("active", "2026-11-28 15:23", "misleading", "12"):
        assert f" {whole} " in first
    assert len([line for line in lines if line.strip()]) > 4
