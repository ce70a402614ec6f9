"""What training leaves: a file of weights or settings, and beside it a card that tells how it came about."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def write_artifact(folder: Path, file: str, content: bytes, card: Mapping[str, Any]) -> dict[str, Any]:
    """The card as written to card.json: with the sha256 of the content."""
    whole = {**card, "sha256": hashlib.sha256(content).hexdigest()}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(content)
    (folder / "card.json").write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    return whole
