"""Configuration: one file and the environment, every fault named at once, secrets never shown."""

from pathlib import Path
from typing import get_args

import pytest

from daemon.settings import SearchSettings, load_settings
from domain.errors import BadSetting
from domain.query import EndpointKind
from models.rewriting.policies import rewriter


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


def test_an_empty_secret_file_is_refused_rather_than_the_embedded_part_used(in_folder: Path) -> None:
    (in_folder / "secret").write_text(" \n")
    for name in ("DATABASE_URL_FILE", "SMTP_URL_FILE"):
        with pytest.raises(BadSetting, match=f"{name}: the file is empty"):
            load_settings({name: str(in_folder / "secret")})


def test_a_secret_file_that_is_no_text_is_named(in_folder: Path) -> None:
    (in_folder / "secret").write_bytes(b"\xff\xfe\x80")
    with pytest.raises(BadSetting, match=r"DATABASE_URL_FILE: cannot read .*secret \(it is no text\)"):
        load_settings({"DATABASE_URL_FILE": str(in_folder / "secret")})


@pytest.mark.parametrize(
    ("variable", "value", "complaint"),
    [
        ("CLAIMWATCH_SEARCH", "notjson", "CLAIMWATCH_SEARCH: it is no JSON"),
        ("CLAIMWATCH_HOME", "", "home: it is empty"),
        ("CLAIMWATCH_MATCH__ENCODER", "", "match.encoder: it is empty"),
        ("CLAIMWATCH_WATCH__INTERVAL_HOURS", "nan", "watch.interval_hours: .*finite"),
        ("CLAIMWATCH_WATCH__LONGEST_HOURS", "8761", "watch.longest_hours: .*8760"),
        ("CLAIMWATCH_WATCH__LONGEST_HOURS", "0.5", "watch: shortest_hours 1 is more than longest_hours 0.5"),
        ("CLAIMWATCH_SERVICE__TICK_S", "inf", "service.tick_s: .*finite"),
        ("CLAIMWATCH_MAIL__TIMEOUT_S", "86401", "mail.timeout_s: .*86400"),
        ("CLAIMWATCH_SEARCH__OVERLAP_MINUTES", "43201", "search.overlap_minutes: .*43200"),
        ("CLAIMWATCH_SEARCH__POLICY", "best", "search.policy: .*'rarest'"),
        ("CLAIMWATCH_MAIL__TEMPLATES", "/nowhere", "mail.templates: there is no folder /nowhere"),
        ("CLAIMWATCH_MAIL__SENDER", "nobody", "mail.sender: 'nobody' is no mail address"),
        ("CLAIMWATCH_MAIL__SENDER", "", "mail.sender: '' is no mail address"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_key(
    in_folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, complaint: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(BadSetting, match=complaint):
        load_settings()


def test_a_sender_may_have_a_name(in_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAIMWATCH_MAIL__SENDER", "Desk <desk@newsroom.example>")
    assert load_settings().mail.sender == "Desk <desk@newsroom.example>"


def test_a_variable_that_sets_nothing_is_named_beside_other_faults(
    in_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAIMWATCH_SEARCH_POLICY", "claim")
    monkeypatch.setenv("CLAIMWATCH_SEARCH__LOOKBACK_DAYS", "soon")
    with pytest.raises(BadSetting, match=r"(?s)CLAIMWATCH_SEARCH_POLICY: no such setting.*search\.lookback_days"):
        load_settings()


def test_every_policy_that_can_be_set_is_there() -> None:
    for name in get_args(SearchSettings.model_fields["policy"].annotation):
        rewriter(name, kind=EndpointKind.BOOLEAN, language="en", encode=lambda _: pytest.fail(), queries=8, reads=100)


def test_what_an_orchestrator_sets_for_a_service_of_our_name_is_no_fault() -> None:
    given = {
        "CLAIMWATCH_SERVICE_HOST": "10.0.0.1",
        "CLAIMWATCH_PORT": "tcp://10.0.0.1:80",
        "CLAIMWATCH_PORT_80_TCP": "x",
    }
    assert load_settings(given).log.level
