from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from domain.fact_check import FactCheck
from domain.match import MatchReason, Stance
from models.backbone import Encoder
from models.ranking.calibration import Calibration
from models.ranking.matcher import NEAR, Matcher, PostMatches, PostText
from tests.unit.models.ranking.conftest import Embed, MakeFactCheck

FLUORIDE = "fc.example/a/42"
CLAIM = "Lindmouth banned fluoride after tests showed its tap water lowered kids' IQ, wake up people"


@pytest.fixture(scope="module")
def matcher(facts: list[FactCheck], embed: Embed, encoder: Encoder) -> Matcher:
    aliases = [("old.example/fluoride",)] + [()] * (len(facts) - 1)
    return Matcher(facts, embed(facts), encoder, Calibration.load(), aliases=aliases)


def match_one(matcher: Matcher, text: str, *links: str) -> PostMatches:
    return matcher.match([PostText(text, links)])[0]


def test_a_post_is_matched_with_confidence_reason_and_scores(matcher: Matcher) -> None:
    answer = match_one(matcher, CLAIM)
    best = answer.matches[0]
    assert (best.fact_check_key, best.reason, best.stance) == (FLUORIDE, MatchReason.TEXT, Stance.UNJUDGED)
    assert best.confidence > 0.9
    assert best.sentence.startswith("Lindmouth banned fluoride")
    assert best.scores.keys() == {"bm25", "cosine", "fused", "coverage"}
    assert (answer.language, answer.why) == ("en", MatchReason.TEXT)


def test_a_match_names_the_model_and_its_version(matcher: Matcher, encoder: Encoder) -> None:
    assert match_one(matcher, CLAIM).matches[0].model == f"calibration@3+{encoder.version}"


def test_the_sentence_is_the_one_that_says_what_the_post_says(matcher: Matcher) -> None:
    answer = match_one(
        matcher, "railings of the Kestrel Bridge in Port Alder to be repainted in spring, says the council"
    )
    assert answer.matches[0].sentence.startswith("The council of Port Alder will repaint")


def test_matches_come_the_surest_first_and_none_is_far_off(matcher: Matcher) -> None:
    answer = match_one(
        matcher, "microwaves and onions: both destroy your vitamins and the flu, says the bridge in Port Alder"
    )
    confidences = [match.confidence for match in answer.matches]
    assert confidences == sorted(confidences, reverse=True)
    assert min(confidences, default=1) >= NEAR


@pytest.mark.parametrize(
    "text", ["lost my keys again", "good morning everyone, coffee first", "GOAL!!! what a match", "lol same"]
)
def test_a_post_about_something_else_matches_nothing(matcher: Matcher, text: str) -> None:
    answer = match_one(matcher, text)
    assert (answer.matches, answer.why) == ((), MatchReason.NONE_FITS)


@pytest.mark.parametrize("text", ["https://example.org/x", "🚰🚰🚰", "", "   ", "@a @b", "#…"])
def test_a_post_without_words_is_not_matched(matcher: Matcher, text: str) -> None:
    assert match_one(matcher, text) == PostMatches((), "und", MatchReason.NO_TEXT)


def test_posts_without_words_are_not_embedded(facts: list[FactCheck], embed: Embed, encoder: Encoder) -> None:
    class Refusing:
        dim, version, languages = encoder.dim, encoder.version, encoder.languages

        def encode(self, texts):  # type: ignore[no-untyped-def]
            assert not texts
            return encoder.encode(texts)

    matcher = Matcher(facts, embed(facts), Refusing(), Calibration.load())
    assert len(matcher.match([PostText("🚰"), PostText("@a"), PostText("")])) == 3


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("https://fc.example/a/42", ()),
        ("read this", ("http://www.fc.example/a/42/?utm_source=x#top",)),
        ("read this", ("https://old.example/fluoride",)),
        ("They lie! https://fc.example/a/42", ()),
    ],
)
def test_a_post_that_links_a_fact_check_shares_it_and_never_spreads(
    matcher: Matcher, text: str, links: tuple[str, ...]
) -> None:
    answer = match_one(matcher, text, *links)
    best = answer.matches[0]
    assert (best.fact_check_key, best.reason, best.confidence) == (FLUORIDE, MatchReason.LINK, 1.0)
    assert best.stance is Stance.DEBUNKING
    assert answer.why is MatchReason.LINK


def test_a_link_to_one_fact_check_does_not_hide_a_match_with_another(matcher: Matcher) -> None:
    answer = match_one(
        matcher, "Sliced onions in your socks draw out toxins and cure the flu!", "https://fc.example/a/42"
    )
    assert [match.reason for match in answer.matches] == [MatchReason.LINK, MatchReason.TEXT]
    assert len({match.fact_check_key for match in answer.matches}) == 2


def test_a_debunk_is_told_by_its_words(matcher: Matcher) -> None:
    text = "FACT CHECK: Lindmouth did not ban fluoride, no test showed its tap water lowered children's IQ"
    assert match_one(matcher, text).matches[0].stance is Stance.DEBUNKING


def test_no_post_is_ever_called_spreading(matcher: Matcher, facts: list[FactCheck]) -> None:
    answers = matcher.match([PostText(fact.claim) for fact in facts])
    assert {match.stance for answer in answers for match in answer.matches} == {Stance.UNJUDGED}


def test_a_claim_at_the_end_of_a_long_post_is_found(matcher: Matcher) -> None:
    filler = " ".join(f"Then we walked along river number {n} and talked about the weather." for n in range(250))
    answer = match_one(matcher, f"{filler} {CLAIM}")
    assert answer.matches[0].fact_check_key == FLUORIDE
    assert answer.matches[0].confidence > 0.5
    assert answer.matches[0].passage.endswith(CLAIM)
    assert len(answer.matches[0].passage) <= 300


def test_of_a_short_post_no_passage_is_named(matcher: Matcher) -> None:
    assert match_one(matcher, f"We walked along the river. {CLAIM} Then we went home.").matches[0].passage == ""


@pytest.mark.parametrize(
    "text", ["a" * 30_000, "a " * 30_000, "x" * 10_000 + " fluoride", "#" + "A" * 10_000, "é" * 20_000]
)
def test_a_monstrous_post_is_answered(matcher: Matcher, text: str) -> None:
    assert match_one(matcher, text).why is MatchReason.NONE_FITS


def test_neighbours_do_not_change_a_post_s_matches(matcher: Matcher, facts: list[FactCheck]) -> None:
    posts = [
        PostText(CLAIM),
        PostText("word " * 2000),
        PostText("onions in socks"),
        *(PostText(f.claim) for f in facts),
    ]
    together = matcher.match(posts)
    for post, answer in zip(posts, together, strict=True):
        alone = matcher.match([post])[0]
        assert [m.fact_check_key for m in alone.matches] == [m.fact_check_key for m in answer.matches]
        differences = [abs(a.confidence - b.confidence) for a, b in zip(alone.matches, answer.matches, strict=True)]
        assert max(differences, default=0) <= 1e-5


@pytest.mark.parametrize(
    "text",
    [
        "Hoy el equipo ganó tres a cero y la afición celebró en la plaza hasta la madrugada",
        "Receta de la abuela: tortilla de patatas con cebolla, poco hecha por dentro",
        "El tren de las ocho llega otra vez con retraso, así no hay quien trabaje",
        "Mi vecino toca la trompeta cada domingo a las siete de la mañana",
    ],
)
def test_a_post_in_a_language_the_encoder_does_not_know_is_not_near_to_all_of_it(matcher: Matcher, text: str) -> None:
    answer = match_one(matcher, text)
    assert answer.language == "es"
    assert all(match.confidence < 0.3 for match in answer.matches)


def test_a_spanish_post_is_matched_by_its_words(matcher: Matcher, facts: list[FactCheck]) -> None:
    answer = match_one(
        matcher,
        "Increíble: en Valle Sereno multan con 300 euros por tender la ropa en el balcón, el ayuntamiento se pasa",
    )
    assert answer.matches[0].fact_check_key == facts[5].key
    assert answer.matches[0].confidence > 0.5


def test_an_encoder_of_more_languages_may_speak_for_them(
    facts: list[FactCheck], embed: Embed, encoder: Encoder
) -> None:
    post = PostText("Multan con 300 euros por tender la ropa en Valle Sereno")
    plain, wider = (
        Matcher(facts, embed(facts), replace(encoder, languages=languages), Calibration.load()).match([post])[0]
        for languages in (encoder.languages, None)
    )
    assert plain.matches[0].confidence != wider.matches[0].confidence


def test_two_checks_of_one_claim_are_both_found(make: MakeFactCheck, embed: Embed, encoder: Encoder) -> None:
    pair = [
        make("Lindmouth banned fluoride from its water."),
        make("Lindmouth has banned fluoride from its tap water."),
    ]
    matcher = Matcher(pair, embed(pair), encoder, Calibration.load())
    answer = match_one(matcher, "Lindmouth has BANNED fluoride from the water!")
    assert [match.confidence > 0.5 for match in answer.matches] == [True, True]


def test_no_fact_checks_and_no_posts_are_answered(encoder: Encoder, matcher: Matcher) -> None:
    empty = Matcher([], np.zeros((0, encoder.dim), dtype=np.float32), encoder, Calibration.load())
    assert match_one(empty, CLAIM) == PostMatches((), "en", MatchReason.NONE_FITS)
    assert matcher.match([]) == []


def test_a_fact_check_without_an_embedding_is_still_found_by_its_words(
    facts: list[FactCheck], encoder: Encoder
) -> None:
    matcher = Matcher(facts, np.zeros((len(facts), encoder.dim), dtype=np.float32), encoder, Calibration.load())
    assert matcher.match([PostText(facts[5].claim)])[0].matches[0].fact_check_key == facts[5].key


def test_no_more_than_k_are_given(matcher: Matcher) -> None:
    assert len(matcher.match([PostText(CLAIM, ("https://fc.example/a/42",))], k=1)[0].matches) == 1


def test_dates_weigh_little_and_never_against_an_old_claim_that_comes_back(
    facts: list[FactCheck], embed: Embed, encoder: Encoder
) -> None:
    day = datetime(2021, 5, 4, tzinfo=UTC)
    text = "heard that they took the fluoride out of the water in Lindmouth"
    found = {}
    for name, published in (("none", None), ("old", day - timedelta(days=3000)), ("same day", day)):
        dated = [replace(fact, published_at=published) for fact in facts]
        matcher = Matcher(dated, embed(facts), encoder, Calibration.load())
        found[name] = matcher.match([PostText(text, posted_at=day)])[0].matches[0].confidence
    odds = {name: confidence / (1 - confidence) for name, confidence in found.items()}
    assert odds["none"] == pytest.approx(odds["old"], rel=1e-3)
    assert odds["none"] < odds["same day"] < 2.1 * odds["none"]


def test_a_post_without_a_date_is_matched_as_before(matcher: Matcher) -> None:
    undated, dated = matcher.match([PostText(CLAIM), PostText(CLAIM, posted_at=datetime(2021, 5, 4, tzinfo=UTC))])
    assert undated.matches[0].confidence == pytest.approx(dated.matches[0].confidence)


def test_without_sentences_the_claim_stands_in(matcher: Matcher, facts: list[FactCheck]) -> None:
    (said,), (plain,) = (matcher.match([PostText(CLAIM)], sentences=sentences) for sentences in (True, False))
    assert plain.matches[0].sentence == facts[0].claim
    assert [m.confidence for m in plain.matches] == [m.confidence for m in said.matches]
