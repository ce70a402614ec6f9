"""A connector's options, checked wholly at the start; each connector describes its own as a model."""

from collections.abc import Mapping
from typing import Annotated, TypeVar
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError

from domain.errors import BadSetting


class Options(BaseModel):
    """Inherit it and name the options. A secret is a Secret, an address an Address: both are checked."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _sendable(secret: SecretStr) -> SecretStr:
    """Without the line end that a file or a shell may have left: no header can carry one."""
    text = secret.get_secret_value().strip()
    if not (text.isascii() and text.isprintable()):
        raise ValueError("it holds a character that no token has: copy it anew")
    return SecretStr(text)


def _filled(secret: SecretStr) -> SecretStr:
    if not secret.get_secret_value():
        raise ValueError("it is empty")
    return secret


def split_address(text: str, schemes: tuple[str, ...]) -> SplitResult:
    """The parts of a whole address. Raises ValueError, in words that do not repeat it: it may hold a password."""
    try:
        parts = urlsplit(text)
        known = bool(parts.hostname) and parts.scheme in schemes and (parts.port is None or parts.port > 0)
    except ValueError:  # brackets that do not close, a port that is no number
        known = False
    if not known or any(letter.isspace() for letter in text):
        raise ValueError(f"it is no whole address, as {schemes[0]}://host.example")
    return parts


def _web_address(text: str) -> str:
    split_address(text.strip(), ("https", "http"))
    return text.strip()


def _stream_address(text: str) -> str:
    split_address(text.strip(), ("wss", "ws"))
    return text.strip()


OptionalSecret = Annotated[SecretStr, AfterValidator(_sendable)]
Secret = Annotated[OptionalSecret, AfterValidator(_filled)]
Address = Annotated[str, AfterValidator(_web_address)]
StreamAddress = Annotated[str, AfterValidator(_stream_address)]
KeptDays = Annotated[int, Field(gt=0, le=36_500)]  # a century: a later moment than any calendar holds is no wish
GivenOptions = TypeVar("GivenOptions", bound=Options)


def read_options(model: type[GivenOptions], name: str, given: Mapping[str, str]) -> GivenOptions:
    """The options of the connector `name`. Raises BadSetting that names the first one that is missing or wrong."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as exc:
        raise BadSetting(_explain(name, exc)) from None


def _explain(name: str, exc: ValidationError) -> str:
    fault = exc.errors(include_input=False, include_url=False)[0]
    option = ".".join(("connectors", name, "options", *map(str, fault["loc"])))
    if fault["type"] == "extra_forbidden":
        return f"{option}: no such option: remove it"
    if fault["type"] == "missing":
        return f"{option} is missing: give it"
    return f"{option}: {fault['msg'].removeprefix('Value error, ')}: correct it"
