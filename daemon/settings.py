"""Every setting, read once from one TOML file and the environment, checked wholly at the start.

The environment wins over the file. Names: `CLAIMWATCH_HOME`, `CLAIMWATCH_SEARCH__LOOKBACK_DAYS`, … ; `DATABASE_URL` and
`SMTP_URL` are read under their usual names, or from the file that `DATABASE_URL_FILE` or `SMTP_URL_FILE` names.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from domain.errors import BadSetting

_SECRETS = ("DATABASE_URL", "SMTP_URL")


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ConnectorSettings(_Section):
    """One search endpoint; `options` are the connector's own (the simulated one: posts, kind, page_size)."""

    type: str
    options: dict[str, str] = {}


class SearchSettings(_Section):
    policy: str = "rarest"
    lookback_days: int = Field(30, gt=0, le=3650)
    overlap_minutes: int = Field(10, ge=0)  # posts that a platform indexes late
    queries_per_claim: int = Field(8, gt=0, le=50)
    reads_per_query: int = Field(100, gt=0)


class MatchSettings(_Section):
    encoder: Path | None = None  # a local model folder; the packaged one if unset
    keep_above: float = Field(0.3, ge=0, le=1)


class WatchSettings(_Section):
    interval_hours: float = Field(6, gt=0)
    shortest_hours: float = Field(1, gt=0)
    longest_hours: float = Field(48, gt=0)


class MailSettings(_Section):
    sender: str = "claimwatch@localhost"
    templates: Path | None = None
    timeout_s: float = Field(30, gt=0)


class ServiceSettings(_Section):
    tick_s: float = Field(15, gt=0)
    stalled_after_s: float = Field(60, gt=0)


class LogSettings(_Section):
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    format: Literal["json", "text"] = "text"


def _default_home() -> Path:
    # As root, the embedded database opens its parent folders to its own user: not under a private home.
    return Path("/var/lib/claimwatch") if os.geteuid() == 0 else Path(platformdirs.user_data_dir("claimwatch"))


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="CLAIMWATCH_", env_nested_delimiter="__", frozen=True, extra="forbid", hide_input_in_errors=True
    )

    home: Path = Field(default_factory=_default_home)
    data: Path | None = None
    database_url: SecretStr | None = None
    smtp_url: SecretStr | None = None
    connectors: dict[str, ConnectorSettings] = {}
    search: SearchSettings = SearchSettings()
    match: MatchSettings = MatchSettings()
    watch: WatchSettings = WatchSettings()
    mail: MailSettings = MailSettings()
    service: ServiceSettings = ServiceSettings()
    log: LogSettings = LogSettings()

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource, dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:  # fmt: skip
        return env_settings, init_settings  # what the file gave is handed in as init


def load_settings(environment: Mapping[str, str] = os.environ, **overrides: object) -> Settings:
    """The settings from claimwatch.toml (or the file that CLAIMWATCH_CONFIG names) and the environment.

    Raises BadSetting with one line a fault: its key and what to do.
    """
    path = _settings_file(environment)
    given = _read_toml(path) if path else {}
    given |= _secrets(environment) | overrides
    try:
        return Settings(**given)
    except ValidationError as exc:
        raise BadSetting(_explain(exc, path)) from exc


def _settings_file(environment: Mapping[str, str]) -> Path | None:
    if named := environment.get("CLAIMWATCH_CONFIG"):
        if not Path(named).is_file():
            raise BadSetting(f"CLAIMWATCH_CONFIG names {named}, which is no file: correct the path or unset it")
        return Path(named)
    here = Path("claimwatch.toml")
    return here if here.is_file() else None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as exc:
        raise BadSetting(f"{path}: {exc}: correct the file") from exc


def _secrets(environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in _SECRETS:
        if value := environment.get(name):
            found[name.lower()] = value
        elif file := environment.get(f"{name}_FILE"):
            try:
                found[name.lower()] = Path(file).read_text("utf-8").strip()
            except OSError as exc:
                raise BadSetting(f"{name}_FILE: cannot read {file} ({exc.strerror}): correct the path") from exc
    return found


def _explain(exc: ValidationError, path: Path | None) -> str:
    where = str(path) if path else "claimwatch.toml"
    lines = []
    for fault in exc.errors():
        key = ".".join(str(part) for part in fault["loc"])
        variable = "CLAIMWATCH_" + "__".join(str(part) for part in fault["loc"]).upper()
        unknown = fault["type"] == "extra_forbidden"
        remedy = "no such setting: remove it" if unknown else f"{fault['msg']}: correct it"
        lines.append(f"{key}: {remedy} in {where} or {variable}")
    return "settings cannot be used:\n  " + "\n  ".join(lines)
