import numpy as np
import pytest

from domain.fact_check import FactCheck
from models.backbone import Encoder
from models.ranking.evidence import FEATURES, SMALL, EvidenceFinder
from models.ranking.post_words import PostWords, embed_posts
from tests.unit.models.ranking.conftest import Embed, MakeFactCheck

POST = "They banned fluoride in Lindmouth"


@pytest.fixture
def post(encoder: Encoder) -> PostWords:
    return embed_posts([POST], encoder.encode, modes=["full"])[0][0]


def test_the_best_candidate_comes_with_what_speaks_for_it(
    facts: list[FactCheck], embed: Embed, post: PostWords, encoder: Encoder
) -> None:
    (evidence,) = EvidenceFinder(facts, embed(facts), encoder).find([post], k=3)
    best = dict(zip(FEATURES, evidence.features[0].tolist(), strict=True))
    assert evidence.candidates.numbers[0] == 0
    assert best["cosine"] == pytest.approx(float(embed(facts[:1])[0] @ post.vector), abs=1e-5)
    assert best["statement"] == pytest.approx(best["cosine"], abs=1e-5)
    assert best["title"] == pytest.approx(float(encoder.encode([facts[0].title])[0] @ post.vector), abs=1e-5)
    assert 0.2 < best["coverage"] < 0.8
    assert len(evidence.candidates.numbers) == 3


def test_a_fact_check_left_out_is_as_if_it_were_not_there(
    facts: list[FactCheck], embed: Embed, post: PostWords, encoder: Encoder
) -> None:
    finder = EvidenceFinder(facts, embed(facts), encoder)
    (evidence,) = finder.find([post], without=[{0}])
    assert 0 not in evidence.candidates.numbers
    assert len(evidence.candidates.numbers) == len(facts) - 1
    (again,) = finder.find([post])
    assert again.candidates.numbers[0] == 0


def test_a_lexical_post_is_ranked_by_words_alone(facts: list[FactCheck], embed: Embed, encoder: Encoder) -> None:
    nearest_to_socks = encoder.encode(["onions in socks"])[0]
    (evidence,) = EvidenceFinder(facts, embed(facts), encoder).find(
        [PostWords(POST, nearest_to_socks, nearest_to_socks, mode="lexical")]
    )
    assert evidence.candidates.numbers[0] == 0


def test_two_checks_of_one_claim_are_no_rivals(
    make: MakeFactCheck, embed: Embed, post: PostWords, encoder: Encoder
) -> None:
    pair = [make("Lindmouth banned fluoride."), make("Lindmouth has banned fluoride."), make("Onions cure the flu.")]
    (evidence,) = EvidenceFinder(pair, embed(pair), encoder).find([post])
    place = {int(number): row for row, number in enumerate(evidence.candidates.numbers)}
    assert not evidence.rivals[place[0], place[1]]
    assert evidence.rivals[place[0], place[2]]
    assert not evidence.rivals.diagonal().any()


def test_a_collection_may_be_smaller_than_the_number_wanted_or_empty(
    make: MakeFactCheck, embed: Embed, post: PostWords, encoder: Encoder
) -> None:
    one, nothing = [make("Lindmouth banned fluoride.")], np.zeros((0, 384), dtype=np.float32)
    assert EvidenceFinder(one, embed(one), encoder).find([post])[0].features.shape == (1, len(FEATURES))
    assert EvidenceFinder([], nothing, encoder).find([post])[0].features.shape == (0, len(FEATURES))


def test_a_word_is_worth_as_much_beside_few_fact_checks_as_beside_many(
    make: MakeFactCheck, embed: Embed, post: PostWords, encoder: Encoder
) -> None:
    many = [make("Lindmouth banned fluoride."), *(make(f"Story number {n} of a town.") for n in range(300))]
    few, all_of_them = (
        EvidenceFinder(facts, embed(facts), encoder).find([post])[0].features[0, FEATURES.index("bm25")]
        for facts in (many[:SMALL], many)
    )
    assert few == pytest.approx(all_of_them, rel=0.15)


def test_a_word_that_two_of_three_texts_lack_does_not_count_as_rare(
    facts: list[FactCheck], embed: Embed, encoder: Encoder, post: PostWords
) -> None:
    tiny = EvidenceFinder(facts[:3], embed(facts[:3]), encoder).find([post])[0]
    assert tiny.features[0, FEATURES.index("bm25")] < 1


def test_every_fact_check_needs_its_vector(facts: list[FactCheck], embed: Embed, encoder: Encoder) -> None:
    with pytest.raises(ValueError, match="1 vectors for 7 fact-checks"):
        EvidenceFinder(facts, embed(facts[:1]), encoder)
