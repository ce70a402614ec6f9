"""What is asked of a costlier model, and what its answer changes."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from domain.fact_check import FactCheck
from models.backbone import Encoder
from models.ranking.calibration import Calibration, confidences
from models.ranking.matcher import Matcher, PostText
from models.ranking.second_opinion import LEAD, WEIGHT, SecondOpinion

MakeFactCheck = Callable[..., FactCheck]
ALL_RIVALS = ~np.eye(7, dtype=np.bool_)


class Prefers:
    """Finds the claims that hold a word likelier by a nat; keeps what it was asked."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.asked: list[list[str]] = []

    def __call__(self, post: str, facts: Sequence[FactCheck]) -> NDArray[np.float64]:
        self.asked.append([fact.claim for fact in facts])
        return np.array([-2.0 if self.word in fact.claim else -3.0 for fact in facts])


@pytest.fixture
def letters(make: MakeFactCheck) -> list[FactCheck]:
    return [make(letter) for letter in "abcdefg"]


def test_the_best_of_an_unsure_post_are_shared_out_anew_and_are_worth_what_they_were(letters: list[FactCheck]) -> None:
    strengths, prefers = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2]), Prefers("c")

    after = SecondOpinion("it", prefers).reconsider(strengths, ALL_RIVALS, "p", letters)

    assert prefers.asked == [list("gfedc")]
    assert after.argmax() == 2
    assert after[:2].tolist() == strengths[:2].tolist()
    assert np.exp(after).sum() == pytest.approx(np.exp(strengths).sum())
    assert after[2] - after[6] == pytest.approx(strengths[2] - strengths[6] + WEIGHT)
    before, found = (confidences(s, ALL_RIVALS) for s in (strengths, after))
    assert found.sum() == pytest.approx(before.sum())  # what is left for "none of them"


def test_nobody_is_asked_about_a_post_that_the_blend_is_sure_of(letters: list[FactCheck]) -> None:
    strengths, prefers = np.array([1.0, 1.0 - LEAD, -5, -5, -5, -5, -5]), Prefers("b")
    assert SecondOpinion("it", prefers).reconsider(strengths, ALL_RIVALS, "p", letters) is strengths
    assert not prefers.asked


def test_two_fact_checks_of_one_claim_do_not_make_a_post_unsure(letters: list[FactCheck]) -> None:
    strengths, prefers = np.array([1.0, 0.9, -5, -5, -5, -5, -5]), Prefers("b")
    twins = ALL_RIVALS.copy()
    twins[0, 1] = twins[1, 0] = False
    assert SecondOpinion("it", prefers).reconsider(strengths, twins, "p", letters) is strengths
    assert not prefers.asked


@pytest.mark.parametrize("word", ["g", "f", "e"])
def test_fact_checks_of_one_claim_rise_and_fall_together(letters: list[FactCheck], word: str) -> None:
    strengths, prefers = np.array([-5, -5, -5, -5, 2.0, 2.9, 3.0]), Prefers(word)
    twins = ALL_RIVALS.copy()
    twins[5, 6] = twins[6, 5] = False

    after = SecondOpinion("it", prefers).reconsider(strengths, twins, "p", letters)

    assert after[6] - after[5] == pytest.approx(0.1)
    assert (after[6] > after[4]) == (word != "e")
    # "none of them" loses nothing: what the best fact-check of each claim is worth adds up to what it did.
    own = [0, 1, 4, 6]
    assert np.exp(after[own]).sum() == pytest.approx(np.exp(strengths[own]).sum())


@pytest.mark.parametrize(("count", "asked"), [(0, []), (1, []), (2, [["a", "b"]])])
def test_few_candidates(letters: list[FactCheck], count: int, asked: list[list[str]]) -> None:
    prefers = Prefers("b")
    opinion = SecondOpinion("it", prefers)
    after = opinion.reconsider(np.zeros(count), ALL_RIVALS[:count, :count], "p", letters[:count])
    assert prefers.asked == asked
    assert after.shape == (count,)


def test_a_matcher_asks_only_where_one_of_several_fact_checks_is_likely(make: MakeFactCheck, encoder: Encoder) -> None:
    facts = [
        make("The mayor of Lindmouth sold the town's park in 2019."),
        make("The mayor of Lindmouth sold the town's library in 2019."),
        make("Owls were seen above the harbour of Tessel."),
    ]
    vectors = encoder.encode([fact.claim for fact in facts])
    prefers = Prefers("library")
    plain = Matcher(facts, vectors, encoder, Calibration.load())
    asking = Matcher(facts, vectors, encoder, Calibration.load(), opinion=SecondOpinion("lm@1", prefers))
    posts = [
        PostText("the mayor of Lindmouth sold the town's property in 2019!!"),
        PostText("so the mayor of Lindmouth just sold it, in 2019!!"),  # likelier about none of them
        PostText("who saw the owls above the harbour of Tessel?"),
        PostText("good morning everyone, have a nice day"),
    ]

    before, after = plain.match(posts), asking.match(posts)

    assert len(prefers.asked) == 1
    assert after[0].matches[0].fact_check_key == facts[1].key
    assert sum(m.confidence for m in after[0].matches) == pytest.approx(
        sum(m.confidence for m in before[0].matches), abs=0.02
    )  # but for what falls below NEAR
    assert [m.confidence for p in after[1:] for m in p.matches] == [m.confidence for p in before[1:] for m in p.matches]
    assert asking.name == f"{plain.name}+lm@1"


def test_of_a_long_post_the_surest_passage_is_asked_about(make: MakeFactCheck, encoder: Encoder) -> None:
    facts = [make(f"The mayor of Lindmouth sold the town's {thing} in 2019.") for thing in ("park", "library")]
    said: list[str] = []

    def score(post: str, found: Sequence[FactCheck]) -> NDArray[np.float64]:
        said.append(post)
        return np.zeros(len(found))

    matcher = Matcher(
        facts, encoder.encode([fact.claim for fact in facts]), encoder, Calibration.load(),
        opinion=SecondOpinion("lm@1", score),
    )  # fmt: skip
    walk, sold = (
        "We walked along river number {} and talked. ",
        "The mayor of Lindmouth sold the town's property in 2019! ",
    )
    post = "".join([walk.format(n) for n in range(60)] + [sold] * 9 + [walk.format(n) for n in range(60, 120)])

    (answer,) = matcher.match([PostText(post)])

    (passage,) = said
    assert "mayor of Lindmouth" in passage and len(passage) < len(post) / 4
    assert answer.language == "en"
