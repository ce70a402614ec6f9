from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.evaluation.vectors import cached_vectors


class LengthEncoder:
    """One number a text, and a count of how often it was asked."""

    dim = 1

    def __init__(self, version: str = "1") -> None:
        self.version = version
        self.asked = 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += 1
        return np.array([[len(text)] for text in texts], dtype=np.float32)


def test_the_same_texts_are_embedded_once(tmp_path: Path) -> None:
    encoder = LengthEncoder()
    first, second = (cached_vectors(["a", "bcd"], encoder, tmp_path / "cache") for _ in range(2))
    assert encoder.asked == 1
    assert first.tolist() == second.tolist() == [[1], [3]]


def test_other_texts_or_another_encoder_are_embedded_anew(tmp_path: Path) -> None:
    first, other = LengthEncoder(), LengthEncoder("2")
    cached_vectors(["ab", "c"], first, tmp_path)
    cached_vectors(["a", "bc"], first, tmp_path)
    cached_vectors(["ab", "c"], other, tmp_path)
    assert (first.asked, other.asked) == (2, 1)


def test_without_a_folder_nothing_is_kept(tmp_path: Path) -> None:
    assert cached_vectors(["a"], LengthEncoder(), None).tolist() == [[1]]
    assert list(tmp_path.iterdir()) == []
