"""What a folder of explorations was made of, so that a run that was cut off goes on with the same, and no other."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from domain.errors import BadInput

_FILE = "manifest.json"


def begin(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Make the folder, or take it up again. Raises BadInput where it holds an exploration of another kind."""
    path = folder / _FILE
    if path.exists():
        return _compare(path, read(folder), dict(manifest))
    partial = folder / f".{_FILE}.partial"
    try:
        if folder.exists() and set(folder.iterdir()) - {partial}:
            raise BadInput(f"{folder} is not empty and holds no {_FILE}: give another folder")
        folder.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(partial, path)
    except OSError as exc:
        raise BadInput(f"{folder} cannot be written to ({exc.strerror}): give another folder") from exc


def read(folder: Path) -> dict[str, Any]:
    path = folder / _FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as exc:
        raise BadInput(f"{folder} holds no {_FILE}: `claimwatch explore` makes one") from exc
    except (OSError, ValueError) as exc:
        raise BadInput(f"{path} cannot be read ({exc}): delete the folder and explore again") from exc
    if not isinstance(found, dict) or not found.get("metrics") or not isinstance(found.get("claims"), int):
        raise BadInput(f"{path} is none of an exploration: delete the folder and explore again")
    return found


def _compare(path: Path, held: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, value in wanted.items():
        if held.get(name) != json.loads(json.dumps(value)):
            what = "other data" if name == "data_sha256" else f"another {name}"
            raise BadInput(f"{path.parent} was made with {what} ({held.get(name)}, not {value}): give another folder")
