import numpy as np
import pytest

from domain.fact_check import FactCheck
from models.backbone import Encoder
from models.ranking.evidence import FEATURES, EvidenceFinder, PostWords
from tests.unit.models.ranking.conftest import Embed, MakeFactCheck

POST = "They banned fluoride in Lindmouth"


@pytest.fixture
def post(encoder: Encoder) -> PostWords:
    return PostWords(POST, encoder.encode([POST])[0])


def test_the_best_candidate_comes_with_what_speaks_for_it(
    facts: list[FactCheck], embed: Embed, post: PostWords
) -> None:
    (evidence,) = EvidenceFinder(facts, embed(facts)).find([post], k=3)
    best = dict(zip(FEATURES, evidence.features[0].tolist(), strict=True))
    assert evidence.candidates.numbers[0] == 0
    assert best["cosine"] == pytest.approx(float(embed(facts[:1])[0] @ post.vector), abs=1e-5)
    assert 0.2 < best["coverage"] < 0.8
    assert len(evidence.candidates.numbers) == 3


def test_a_fact_check_left_out_is_as_if_it_were_not_there(
    facts: list[FactCheck], embed: Embed, post: PostWords
) -> None:
    finder = EvidenceFinder(facts, embed(facts))
    (evidence,) = finder.find([post], without=[{0}])
    assert 0 not in evidence.candidates.numbers
    assert len(evidence.candidates.numbers) == len(facts) - 1
    (again,) = finder.find([post])
    assert again.candidates.numbers[0] == 0


def test_a_lexical_post_is_ranked_by_words_alone(facts: list[FactCheck], embed: Embed, encoder: Encoder) -> None:
    nearest_to_socks = encoder.encode(["onions in socks"])[0]
    (evidence,) = EvidenceFinder(facts, embed(facts)).find([PostWords(POST, nearest_to_socks, lexical=True)])
    assert evidence.candidates.numbers[0] == 0


def test_two_checks_of_one_claim_are_no_rivals(make: MakeFactCheck, embed: Embed, post: PostWords) -> None:
    pair = [make("Lindmouth banned fluoride."), make("Lindmouth has banned fluoride."), make("Onions cure the flu.")]
    (evidence,) = EvidenceFinder(pair, embed(pair)).find([post])
    place = {int(number): row for row, number in enumerate(evidence.candidates.numbers)}
    assert not evidence.rivals[place[0], place[1]]
    assert evidence.rivals[place[0], place[2]]
    assert not evidence.rivals.diagonal().any()


def test_a_collection_may_be_smaller_than_the_number_wanted_or_empty(
    make: MakeFactCheck, embed: Embed, post: PostWords
) -> None:
    one = [make("Lindmouth banned fluoride.")]
    assert EvidenceFinder(one, embed(one)).find([post])[0].features.shape == (1, 3)
    assert EvidenceFinder([], np.zeros((0, 384), dtype=np.float32)).find([post])[0].features.shape == (0, 3)


def test_every_fact_check_needs_its_vector(facts: list[FactCheck], embed: Embed) -> None:
    with pytest.raises(ValueError, match="1 vectors for 7 fact-checks"):
        EvidenceFinder(facts, embed(facts[:1]))
