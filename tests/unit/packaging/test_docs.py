"""Every command, setting and connector is explained in the guide."""

from importlib.metadata import entry_points
from pathlib import Path

import pytest
import typer
from pydantic import BaseModel

from daemon.cli.main import app
from daemon.settings import Settings

DOCS = Path(__file__).parents[3] / "docs"
GUIDE = (DOCS / "guide.md").read_text("utf-8")


def commands() -> list[str]:
    root = typer.main.get_command(app)
    assert isinstance(root, typer.core.TyperGroup)
    return sorted(root.commands)


def settings() -> list[str]:
    found = []
    for name, field in Settings.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found += [f"{name}.{key}" for key in kind.model_fields]
        else:
            found.append(name)
    return found


@pytest.mark.parametrize("command", commands())
def test_every_command_is_in_the_guide(command: str) -> None:
    assert f"`{command}" in GUIDE


@pytest.mark.parametrize("setting", settings())
def test_every_setting_is_in_the_guide(setting: str) -> None:
    section, _, key = setting.rpartition(".")
    assert f"`{setting}" in GUIDE or (f"`{section}." in GUIDE and f".{key}`" in GUIDE)


def test_every_connector_is_in_its_page_which_the_guide_names() -> None:
    assert "connectors.md" in GUIDE
    page = (DOCS / "connectors.md").read_text("utf-8")
    for entry in entry_points(group="claimwatch.connectors"):
        assert f"`{entry.name}`" in page
