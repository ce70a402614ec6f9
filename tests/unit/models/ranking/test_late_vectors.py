import numpy as np
import pytest

from models.backbone import Encoder
from models.ranking.late_vectors import LateVectors

TEXTS = ["Cats are taxed.", "Owls were seen.", "Bees died."]


class CountingEncoder:
    """The real encoder, noting what it is asked."""

    def __init__(self, encoder: Encoder) -> None:
        self.dim, self.version = encoder.dim, encoder.version
        self.asked: list[str] = []
        self._encoder = encoder

    def encode(self, texts):  # type: ignore[no-untyped-def]
        self.asked += texts
        return self._encoder.encode(texts)


@pytest.fixture
def counting(encoder: Encoder) -> CountingEncoder:
    return CountingEncoder(encoder)


def test_a_text_is_embedded_once_when_it_is_first_wanted(counting: CountingEncoder, encoder: Encoder) -> None:
    late = LateVectors(TEXTS, counting, np.zeros((3, encoder.dim), np.float32), np.zeros(3, np.bool_))
    for _ in range(2):
        late.prepare([np.array([0, 2]), np.array([2])])
    assert counting.asked == [TEXTS[0], TEXTS[2]]
    assert np.abs(late.of(np.array([2])) - encoder.encode([TEXTS[2]])).max() < 1e-5


def test_what_is_known_beforehand_is_taken_as_it_is(counting: CountingEncoder, encoder: Encoder) -> None:
    made = np.eye(3, encoder.dim, dtype=np.float32)
    late = LateVectors(TEXTS, counting, made.copy(), np.array([True, False, True]))
    late.prepare([np.arange(3)])
    assert counting.asked == [TEXTS[1]]
    assert np.array_equal(late.of(np.array([0, 2])), made[[0, 2]])


def test_nothing_wanted_embeds_nothing(counting: CountingEncoder, encoder: Encoder) -> None:
    LateVectors(TEXTS, counting, np.zeros((3, encoder.dim), np.float32), np.zeros(3, np.bool_)).prepare([])
    assert counting.asked == []
