"""A connector's options, checked wholly at the start; each connector describes its own as a model."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from domain.errors import BadSetting


class Options(BaseModel):
    """Inherit it and name the options. A secret is a SecretStr."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


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
