"""Every setting, read once from one TOML file and the environment, checked wholly at the start.

The environment wins over the file. Names: `CLAIMWATCH_HOME`, `CLAIMWATCH_SEARCH__LOOKBACK_DAYS`, … ; `DATABASE_URL` and
`SMTP_URL` are read under their usual names, or from the file that `DATABASE_URL_FILE` or `SMTP_URL_FILE` names.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.utils import parseaddr
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from domain.errors import BadSetting

_SECRETS = ("DATABASE_URL", "SMTP_URL")
_PREFIX = "CLAIMWATCH_"
_CONFIG = "CLAIMWATCH_CONFIG"
_NAME = re.compile(r"\w[\w.-]{0,59}")
_ORCHESTRATOR = re.compile(r"CLAIMWATCH_(SERVICE_)?(HOST|PORT)(_|$)")  # Kubernetes sets them for a service of our name


def _filled(value: object) -> object:
    if value == "":
        raise ValueError("it is empty, which would be the working folder")
    return value


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise ValueError(f"there is no folder {path}")
    return path


def _sender(text: str) -> str:
    try:
        known = Address(addr_spec=parseaddr(text)[1]).domain
    except (HeaderParseError, ValueError, IndexError):  # the last of a parser that expects more text
        known = ""
    if not known:
        raise ValueError(f"{text!r} is no mail address")
    return text


def _connector_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("a connector's name is also one of files: letters, digits, hyphens, 60 at most")
    return text


def _as_text(value: object) -> object:
    """An option as the environment would give it: a file may write `page_size = 40` and `archive = true`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date | datetime):
        return value.isoformat()
    return str(value) if isinstance(value, int | float) else value


ConnectorName = Annotated[str, AfterValidator(_connector_name)]
FilledPath = Annotated[Path, BeforeValidator(_filled)]
Hours = Annotated[float, Field(gt=0, le=8760, allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ConnectorSettings(_Section):
    """One search endpoint; `options` are the connector's own (the simulated one: posts, kind, page_size)."""

    type: str
    options: dict[str, Annotated[str, BeforeValidator(_as_text)]] = {}


class SearchSettings(_Section):
    policy: Literal["learned", "claim", "keyphrases", "rarest"] = "learned"
    control_share: float = Field(0.1, ge=0, le=1)  # of the learned policy's queries, left to key phrases
    ask_counts: bool = False  # the learned policy, where counting is free: fewer posts read, and fewer found
    lookback_days: int = Field(30, gt=0, le=3650)
    overlap_minutes: int = Field(10, ge=0, le=43_200)  # posts that a platform indexes late
    queries_per_claim: int = Field(8, gt=0, le=50)
    reads_per_query: int = Field(100, gt=0)


class MatchSettings(_Section):
    # A local model folder, or the one for posts in any language; the packaged one for English if unset.
    encoder: Annotated[Literal["multilingual"] | Path, BeforeValidator(_filled)] | None = None
    second_opinion: bool = False  # of the language model, where a post is likely about one of several fact-checks
    keep_above: float = Field(0.3, ge=0, le=1)


class WatchSettings(_Section):
    interval_hours: Hours = 6
    shortest_hours: Hours = 1
    longest_hours: Hours = 48

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.shortest_hours > self.longest_hours:
            raise ValueError(
                f"shortest_hours {self.shortest_hours:g} is more than longest_hours {self.longest_hours:g}"
            )
        return self


class MailSettings(_Section):
    sender: Annotated[str, AfterValidator(_sender)] = "claimwatch@localhost"
    templates: Annotated[FilledPath, AfterValidator(_folder)] | None = None
    timeout_s: Seconds = 30


class ServiceSettings(_Section):
    tick_s: Seconds = 15
    stalled_after_s: Seconds = 60


class LogSettings(_Section):
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    format: Literal["json", "text"] = "text"


def _default_home() -> Path:
    # As root, the embedded database opens its parent folders to its own user: not under a private home.
    return Path("/var/lib/claimwatch") if os.geteuid() == 0 else Path(platformdirs.user_data_dir("claimwatch"))


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=_PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid", hide_input_in_errors=True
    )

    home: FilledPath = Field(default_factory=_default_home)
    data: FilledPath | None = None
    database_url: SecretStr | None = None
    smtp_url: SecretStr | None = None
    connectors: dict[ConnectorName, ConnectorSettings] = {}
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
    faults = list(_unknown_variables(environment))
    try:
        settings = Settings(**given)
    except ValidationError as exc:
        raise _unusable([*faults, *_explain(exc, path)]) from exc
    except SettingsError as exc:
        raise _unusable([*faults, _no_json(exc)]) from exc
    if faults:
        raise _unusable(faults)
    return settings


def _unknown_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """One line a variable of ours that sets nothing: its name may be misspelt."""
    known = {_CONFIG, *(_PREFIX + name.upper() for name in Settings.model_fields)}
    for name in sorted(environment):
        ours = name.upper().startswith(_PREFIX) and not _ORCHESTRATOR.match(name)
        if ours and name.upper().split("__")[0] not in known:
            yield f"{name}: no such setting: correct its name (a section's settings are CLAIMWATCH_SECTION__NAME)"


def _unusable(faults: list[str]) -> BadSetting:
    return BadSetting("settings cannot be used:\n  " + "\n  ".join(faults))


def _no_json(exc: SettingsError) -> str:
    found = re.search(r'field "(\w+)"', str(exc))
    name = _PREFIX + found[1].upper() if found else "a variable of the environment"
    return f"{name}: it is no JSON ({exc.__cause__}): correct it, or set one setting as {name}__NAME"


def _settings_file(environment: Mapping[str, str]) -> Path | None:
    if named := environment.get(_CONFIG):
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
            found[name.lower()] = _secret_in(file, f"{name}_FILE")
    return found


def _secret_in(file: str, variable: str) -> str:
    try:
        secret = Path(file).read_text("utf-8").strip()
    except (OSError, ValueError) as exc:
        reason = getattr(exc, "strerror", None) or "it is no text"
        raise BadSetting(f"{variable}: cannot read {file} ({reason}): correct the path") from exc
    if not secret:
        raise BadSetting(f"{variable}: the file is empty: write the address into {file}, or unset {variable}")
    return secret


def _explain(exc: ValidationError, path: Path | None) -> Iterator[str]:
    where = str(path) if path else "claimwatch.toml"
    for fault in exc.errors():
        parts = [str(part) for part in fault["loc"] if part != "[key]"]
        key = ".".join(parts)
        variable = _PREFIX + "__".join(parts).upper()
        unknown = fault["type"] == "extra_forbidden"
        remedy = (
            "no such setting: remove it" if unknown else f"{fault['msg'].removeprefix('Value error, ')}: correct it"
        )
        yield f"{key}: {remedy} in {where} or {variable}"
