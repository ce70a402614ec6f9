from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.evaluation.rewriting.text_vectors import KeptVectors


class LengthEncoder:
    """Two numbers a text, and all texts that it was asked."""

    dim = 2

    def __init__(self, version: str = "1") -> None:
        self.version = version
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.array([[len(text), int(self.version)] for text in texts], dtype=np.float32)


def test_only_new_texts_are_embedded(tmp_path: Path) -> None:
    encoder = LengthEncoder()
    assert KeptVectors(encoder, tmp_path / "cache")(["abc", "", "abc"]).tolist() == [[3, 1], [0, 1], [3, 1]]
    assert KeptVectors(encoder, tmp_path / "cache")(["é", "abc"]).tolist() == [[1, 1], [3, 1]]
    assert sorted(encoder.asked) == ["", "abc", "é"]


def test_more_texts_than_are_written_at_once_come_back_in_order(tmp_path: Path) -> None:
    texts = ["x" * (number % 2000) for number in range(2500)]
    vectors = KeptVectors(LengthEncoder(), tmp_path)(texts)
    assert vectors[:, 0].tolist() == [len(text) for text in texts]


def test_another_encoder_has_its_own(tmp_path: Path) -> None:
    first, other = LengthEncoder(), LengthEncoder("2")
    for encoder in (first, other):
        assert KeptVectors(encoder, tmp_path)(["abc"]).tolist() == [[3, int(encoder.version)]]


def test_no_texts_no_vectors(tmp_path: Path) -> None:
    assert KeptVectors(LengthEncoder(), tmp_path)([]).shape == (0, 2)
