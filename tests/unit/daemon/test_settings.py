"""Configuration: one file and the environment, every fault named at once, secrets never shown."""

from pathlib import Path

import pytest

from daemon.settings import load_settings
from domain.errors import BadSetting


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_with_nothing_set_every_part_is_the_embedded_one(in_folder: Path) -> None:
    settings = load_settings({})
    assert settings.database_url is None
    assert settings.smtp_url is None
    assert settings.connectors == {}


def test_the_environment_wins_over_the_file(in_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (in_folder / "claimwatch.toml").write_text("[search]\nlookback_days = 7\nqueries_per_claim = 2\n")
    monkeypatch.setenv("CLAIMWATCH_SEARCH__LOOKBACK_DAYS", "9")
    settings = load_settings({})
    assert (settings.search.lookback_days, settings.search.queries_per_claim) == (9, 2)


def test_all_faults_are_named_at_once_each_with_its_key_and_remedy(in_folder: Path) -> None:
    (in_folder / "claimwatch.toml").write_text(
        'colour = "red"\n[search]\nlookback_days = -3\n[mail]\ntimeout_s = "soon"\n'
    )
    with pytest.raises(BadSetting) as caught:
        load_settings({})
    text = str(caught.value)
    assert "colour: no such setting: remove it in claimwatch.toml" in text
    assert "search.lookback_days:" in text
    assert "CLAIMWATCH_SEARCH__LOOKBACK_DAYS" in text
    assert "mail.timeout_s:" in text


def test_a_file_that_is_no_toml_is_named_with_the_place_of_the_fault(in_folder: Path) -> None:
    (in_folder / "claimwatch.toml").write_text("[search\n")
    with pytest.raises(BadSetting, match=r"claimwatch\.toml: .*line 1"):
        load_settings({})


def test_a_secret_comes_from_a_file_and_is_not_shown(in_folder: Path) -> None:
    (in_folder / "secret").write_text("postgresql://u:hunter2@db/x\n")
    settings = load_settings({"DATABASE_URL_FILE": str(in_folder / "secret")})
    assert settings.database_url is not None
    assert settings.database_url.get_secret_value() == "postgresql://u:hunter2@db/x"
    assert "hunter2" not in repr(settings)


def test_a_missing_secret_file_is_named(in_folder: Path) -> None:
    with pytest.raises(BadSetting, match="SMTP_URL_FILE"):
        load_settings({"SMTP_URL_FILE": str(in_folder / "nothing")})
