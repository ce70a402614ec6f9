"""A policy's weights on disk: low-rank changes to the packaged encoder, and the heads over what it reads."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from domain.errors import BadArtifact
from models.artifact import read_artifact, write_artifact
from models.backbone import PACKAGED_SHA256
from models.rewriting.learned.claim_words import FEATURES
from models.rewriting.learned.reader import ClaimReader

DIM = 384  # of the packaged encoder
FILE = "model.safetensors"
_ENCODER, _WIDTH = "encoder.", 128


def word_head(outputs: int, *, dropout: float = 0.0) -> nn.Sequential:
    """(…, words, DIM + FEATURES) → (…, words, outputs)."""
    return nn.Sequential(
        nn.Dropout(dropout),
        nn.Linear(DIM + FEATURES, _WIDTH),
        nn.GELU(),
        nn.Dropout(dropout),
        nn.Linear(_WIDTH, outputs),
    )


def save_policy(
    folder: Path, changes: Mapping[str, Tensor], parts: Mapping[str, nn.Module], card: Mapping[str, Any]
) -> dict[str, Any]:
    """`changes` are the encoder's, under the names of its weights. Gives the card."""
    from safetensors.torch import save

    weights = dict(changes)
    for name, part in parts.items():
        weights |= {f"{name}.{key}": weight for key, weight in part.state_dict().items()}
    content = save({name: weight.contiguous() for name, weight in weights.items()})
    return write_artifact(folder, FILE, content, {"name": folder.name, "encoder": PACKAGED_SHA256, **card})


def load_policy(folder: Path, parts: Mapping[str, nn.Module], *, advice: str) -> tuple[ClaimReader, str]:
    """Fill the parts; the tuned encoder, and the start of the sha256. Raises BadArtifact for weights that are missing,
    damaged, not finite, tuned from another encoder or of another shape, ending with the advice."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    card, content = read_artifact(folder, FILE, advice=advice)
    if card.get("encoder") != PACKAGED_SHA256:
        raise BadArtifact(f"{folder} was tuned from encoder {card.get('encoder')}, not {PACKAGED_SHA256}; {advice}")
    try:
        weights = load(content)
        for name, part in parts.items():
            _fill(part, name, weights)
        reader = ClaimReader({name: weight for name, weight in weights.items() if name.startswith(_ENCODER)})
    except (ValueError, SafetensorError) as exc:
        raise BadArtifact(f"{folder} holds no policy that fits: {exc}; {advice}") from exc
    return reader, card["sha256"][:8]


def _fill(part: nn.Module, name: str, weights: Mapping[str, Tensor]) -> None:
    own = {key.removeprefix(f"{name}."): weight for key, weight in weights.items() if key.startswith(f"{name}.")}
    if broken := [key for key, weight in own.items() if not torch.isfinite(weight).all()]:
        raise ValueError(f"{name}.{broken[0]} holds numbers that are not finite")
    try:
        part.load_state_dict(own)
    except RuntimeError as exc:
        raise ValueError(" ".join(str(exc).split())) from exc
    part.requires_grad_(False).train(False)
