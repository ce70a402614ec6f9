"""Embeddings kept between runs, under the hash of what they were made from."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.ranking.encoder import TextEncoder


def cached_vectors(texts: Sequence[str], encoder: TextEncoder, folder: Path | None) -> NDArray[np.float32]:
    """(texts, dim): read from the folder if the same encoder has embedded the same texts, else made and kept there."""
    if folder is None:
        return encoder.encode(texts)
    digest = hashlib.sha256(encoder.version.encode())
    for text in texts:
        digest.update(b"\0" + text.encode())
    path = folder / f"vectors-{digest.hexdigest()[:24]}.npy"
    if path.exists():
        kept: NDArray[np.float32] = np.load(path)
        return kept
    vectors = encoder.encode(texts)
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.save(file, vectors)
    os.replace(partial, path)
    return vectors
