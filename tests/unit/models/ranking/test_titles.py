import numpy as np

from domain.fact_check import FactCheck
from models.backbone import Encoder
from models.ranking.titles import TitleVectors
from tests.unit.models.ranking.conftest import Embed, MakeFactCheck


class CountingEncoder:
    """The real encoder, noting what it is asked."""

    def __init__(self, encoder: Encoder) -> None:
        self.dim, self.version = encoder.dim, encoder.version
        self.asked: list[str] = []
        self._encoder = encoder

    def encode(self, texts):  # type: ignore[no-untyped-def]
        self.asked += texts
        return self._encoder.encode(texts)


def test_a_title_is_embedded_once_when_it_is_first_wanted(
    facts: list[FactCheck], embed: Embed, encoder: Encoder
) -> None:
    counting = CountingEncoder(encoder)
    titles = TitleVectors(facts, embed(facts), counting)
    for _ in range(2):
        titles.prepare([np.array([0, 2]), np.array([2])])
    assert counting.asked == [facts[0].title, facts[2].title]
    assert np.abs(titles.of(np.array([2])) - encoder.encode([facts[2].title])).max() < 1e-5


def test_a_fact_check_without_a_title_has_its_claim_s_vector(
    make: MakeFactCheck, embed: Embed, encoder: Encoder
) -> None:
    counting = CountingEncoder(encoder)
    untitled = [make("Cats are taxed.")]
    titles = TitleVectors(untitled, embed(untitled), counting)
    titles.prepare([np.array([0])])
    assert counting.asked == []
    assert np.array_equal(titles.of(np.array([0])), embed(untitled))


def test_titles_made_beforehand_are_taken_as_they_are(facts: list[FactCheck], embed: Embed, encoder: Encoder) -> None:
    counting, made = CountingEncoder(encoder), np.eye(len(facts), encoder.dim, dtype=np.float32)
    titles = TitleVectors(facts, embed(facts), counting, made=made)
    titles.prepare([np.arange(len(facts))])
    assert counting.asked == [] and np.array_equal(titles.of(np.arange(len(facts))), made)
