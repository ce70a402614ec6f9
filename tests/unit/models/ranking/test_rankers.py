import numpy as np
import pytest

from domain.fact_check import FactCheck
from models.backbone import Encoder
from models.ranking.bm25 import BM25Ranker, FieldSettings
from models.ranking.encoder import EncoderRanker
from models.ranking.protocol import Ranker
from models.registry import RANKERS, Collection
from models.retrieval.analyser import ENGLISH
from tests.unit.models.ranking.conftest import Embed

POSTS = [
    "they BANNED fluoride in #Lindmouth because of the kids' IQ",
    "onions in my socks, flu gone",
    "nothing to see here",
]
RIGHT = [0, 2]  # of the first two posts


@pytest.fixture(params=sorted(RANKERS))
def ranker(request: pytest.FixtureRequest, facts: list[FactCheck], embed: Embed, encoder: Encoder) -> Ranker:
    return RANKERS[request.param](Collection(facts, embed(facts), encoder))


def test_a_ranker_puts_the_right_fact_check_first(ranker: Ranker, facts: list[FactCheck]) -> None:
    assert ranker.score(POSTS[:2], facts).argmax(axis=1).tolist() == RIGHT


def test_a_post_s_scores_do_not_depend_on_its_neighbours(ranker: Ranker, facts: list[FactCheck]) -> None:
    together = ranker.score(POSTS, facts)
    alone = np.concatenate([ranker.score([post], facts) for post in POSTS])
    assert np.abs(together - alone).max() <= 1e-5


def test_a_score_does_not_depend_on_the_other_candidates(ranker: Ranker, facts: list[FactCheck]) -> None:
    some = [facts[3], facts[0]]
    assert np.abs(ranker.score(POSTS, some) - ranker.score(POSTS, facts)[:, [3, 0]]).max() <= 1e-5


def test_a_ranker_answers_to_the_name_it_is_registered_under(ranker: Ranker) -> None:
    assert RANKERS.keys() >= {ranker.name}


def test_no_posts_or_no_candidates_give_an_empty_array(ranker: Ranker, facts: list[FactCheck]) -> None:
    assert ranker.score([], facts).shape == (0, len(facts))
    assert ranker.score(POSTS, []).shape == (len(POSTS), 0)


def test_bm25_gives_the_score_computed_by_hand(facts: list[FactCheck]) -> None:
    chosen = FieldSettings((1.0, 1.5, 0.5), k1=0.8, b=0.6)
    weighted = [
        sum(w * len(ENGLISH(field)) for w, field in zip(chosen.weights, (f.claim, f.title, f.body), strict=True))
        for f in facts
    ]
    tf = 1 + 1.5  # "kestrel" stands in claim and title of the second of seven fact-checks
    norm = chosen.k1 * (1 - chosen.b + chosen.b * weighted[1] / np.mean(weighted))
    expected = np.log(1 + (7 - 1 + 0.5) / (1 + 0.5)) * tf / (tf + norm)
    assert BM25Ranker(facts, chosen).score(["kestrel"], facts)[0].tolist() == pytest.approx(
        [0, expected, 0, 0, 0, 0, 0]
    )


def test_a_candidate_outside_the_collection_scores_nothing_by_words(facts: list[FactCheck]) -> None:
    assert BM25Ranker(facts[:3]).score(POSTS, [facts[4]]).tolist() == [[0.0]] * 3


def test_the_encoder_embeds_a_candidate_that_it_was_not_given(
    facts: list[FactCheck], embed: Embed, encoder: Encoder
) -> None:
    given = EncoderRanker(encoder, facts, embed(facts)).score(POSTS, facts)
    made = EncoderRanker(encoder).score(POSTS, facts)
    assert np.abs(given - made).max() <= 1e-5


def test_the_encoder_reads_a_long_post_to_its_end(facts: list[FactCheck], embed: Embed, encoder: Encoder) -> None:
    filler = " ".join(f"Then we walked along river number {n} and talked about the weather." for n in range(80))
    scores = EncoderRanker(encoder, facts, embed(facts)).score([f"{filler} {facts[2].claim}"], facts)
    assert scores[0].argmax() == 2 and scores[0, 2] > 0.4
