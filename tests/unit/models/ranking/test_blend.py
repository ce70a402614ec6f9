from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from domain.fact_check import FactCheck
from models.backbone import Encoder
from models.ranking.blend import BlendRanker
from models.ranking.calibration import Calibration
from models.ranking.dates import DateOdds
from models.ranking.evidence import CANDIDATES
from tests.unit.models.ranking.conftest import Embed, MakeFactCheck

POST = "so they banned fluoride in Lindmouth — News Desk (@news_desk) May 4, 2021"
DAY = datetime(2021, 5, 4, tzinfo=UTC)


@pytest.fixture(scope="module")
def many(make: MakeFactCheck) -> list[FactCheck]:
    return [make(f"The council of town number {n} has banned fluoride.") for n in range(3 * CANDIDATES)]


def test_the_best_are_ranked_by_strength_and_the_others_stand_behind_them(
    many: list[FactCheck], embed: Embed, encoder: Encoder
) -> None:
    ranker = BlendRanker(many, embed(many), encoder, Calibration.load())
    (scores,) = ranker.score(["town number 7 has banned fluoride"], many)
    order = np.argsort(-scores)
    assert order[0] == 7
    assert len(np.unique(scores[order[:CANDIDATES]])) > 1
    assert scores[order[CANDIDATES]] < scores[order[CANDIDATES - 1]]


def test_dates_decide_between_two_that_are_alike_otherwise_only_where_they_are_asked_for(
    make: MakeFactCheck, embed: Embed, encoder: Encoder
) -> None:
    old, new = (make("Lindmouth has banned fluoride.") for _ in range(2))
    pair = [replace(old, published_at=DAY.replace(year=2001)), replace(new, published_at=DAY)]
    plain, dated = (
        BlendRanker(pair, embed(pair), encoder, Calibration.load(), dates=dates).score([POST], pair)[0]
        for dates in (False, True)
    )
    assert plain[0] == pytest.approx(plain[1], abs=1e-4)
    assert dated[1] > dated[0] + 1


def test_a_post_without_a_date_is_ranked_as_without_dates(
    facts: list[FactCheck], embed: Embed, encoder: Encoder
) -> None:
    known = [replace(fact, published_at=DAY) for fact in facts]
    without, with_dates = (
        BlendRanker(known, embed(facts), encoder, Calibration.load(), dates=dates).score(["fluoride"], known)
        for dates in (False, True)
    )
    assert np.abs(without - with_dates).max() < 1e-5


def test_the_weights_given_are_used(facts: list[FactCheck], embed: Embed, encoder: Encoder) -> None:
    no_dates = DateOdds(np.zeros(0, dtype=np.float32), np.zeros(1, dtype=np.float32))
    only_cosine = np.array([0, 2, 0, 0, 0, 0, 0, 1], dtype=np.float32)
    ranker = BlendRanker(facts, embed(facts), encoder, Calibration("t", "1", "", {"full": only_cosine}, no_dates))
    cosines = embed(facts) @ encoder.encode(["onions in my socks"])[0]
    assert np.abs(ranker.score(["onions in my socks"], facts)[0] - (2 * cosines + 1)).max() < 1e-4
