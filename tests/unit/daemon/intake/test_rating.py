"""Ratings from words and from numbers on any scale."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.intake.rating import (
    CLAMPED,
    DISAGREE,
    NO_SCALE,
    RATING_ASIDE,
    SCALE_ASSUMED,
    is_unread,
    rate,
    score_on_scale,
    verdict_of_words,
)
from domain.fact_check import Verdict


@pytest.mark.parametrize(
    ("value", "best", "worst", "score", "flags"),
    [
        ("1", "1", "5", 1.0, ()),
        ("5", "1", "5", 0.0, ()),
        ("1", "5", "1", 0.0, ()),
        ("2.5", "5", "1", 0.375, ()),
        ("2,5", "5", "1", 0.375, ()),
        ("0", "10", "1", 0.0, (CLAMPED,)),
        ("-1", "-1", "-1", None, (NO_SCALE,)),
        ("1", "1", "1", None, (NO_SCALE,)),
        ("3", "", "", 0.5, (SCALE_ASSUMED,)),
    ],
)
def test_t08_scales_upside_down_missing_or_broken(
    value: str, best: str, worst: str, score: float | None, flags: tuple[str, ...]
) -> None:
    assert score_on_scale(value, best, worst) == (score, flags)


@pytest.mark.parametrize("value", ["five", "nan", "inf", "1e308", "1/0", "6/5", "9" * 400])
def test_what_is_no_number_has_no_score_and_a_flag_keeps_it(value: str) -> None:
    score, (flag,) = score_on_scale(value, "5", "1")
    assert score is None
    assert flag.startswith(f"{RATING_ASIDE}: {value[:20]}")
    assert len(flag) < 100


def test_a_scale_with_an_end_that_is_no_number_is_assumed_and_a_flag_keeps_the_end() -> None:
    assert score_on_scale("3", "lots", "1") == (0.5, (f"{RATING_ASIDE}: lots", SCALE_ASSUMED))
    assert score_on_scale("", "", "") == score_on_scale("", "5", "1") == (None, ())


@pytest.mark.parametrize(
    ("text", "score", "verdict"),
    [("2/5", 0.25, "false"), ("5/5", 1.0, "true"), ("0/5", 0.0, "false"), ("5 / 10", 4 / 9, "misleading")],
)
def test_a_fraction_is_read_on_its_own_scale(text: str, score: float, verdict: str) -> None:
    for rating in (rate(text, "", "", ""), rate("", text, "100", "")):
        assert (rating.score, rating.verdict, rating.flags) == (score, verdict, ())


@pytest.mark.parametrize(
    ("words", "value", "unread"),
    [("Totally bonkers", "", True), ("", "nan", True), ("Unproven", "", False), ("False", "", False), ("", "", False)],
)
def test_a_rating_that_says_nothing_we_know_is_told_from_one_that_says_unknown(
    words: str, value: str, unread: bool
) -> None:
    assert is_unread(words, value, rate(words, value, "", "").verdict) is unread


def test_a_number_outside_the_assumed_scale_says_nothing() -> None:
    assert score_on_scale("8", "", "") == (None, (SCALE_ASSUMED, CLAMPED))


@given(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8))
def test_no_rating_raises_and_every_score_is_between_0_and_1(value: str, best: str, worst: str) -> None:
    score = rate(value, value, best, worst).score
    assert score is None or 0 <= score <= 1


ENGLISH = {
    Verdict.FALSE: "False/FALSE!/Not true/Isn't true/Not even remotely true/Mostly false/Pants on Fire/pants-fire/"
    "No/No evidence/Fake/Hoax/Scam/Fabricated/Inaccurate/Four Pinocchios",
    Verdict.MISLEADING: "Misleading/Missing context/Out of context/Altered/Manipulated/Exaggerated/Distorts the Facts/"
    "Not entirely true/True, but out of context/barely_true/Partly false/Two Pinocchios",
    Verdict.MIXED: "Half true/half-true/Mixture/One Pinocchio/Partly true, partly false",
    Verdict.TRUE: "True/Mostly true/Geppetto Checkmark/Correct Attribution",
    Verdict.SATIRE: "Satire/Labeled Satire/Originated as satire, taken for true",
    Verdict.UNKNOWN: "Unproven/Unsupported/Research In Progress/Not false/not misleading",
}
OTHER_LANGUAGES = {
    Verdict.FALSE: "Falso/Falsa/Bulo/No es verdad/No es correcto/Nicht korrekt/Non è autentico, è falso/"
    "Falsch/Stimmt so nicht/Größtenteils falsch/Nicht wahr/Faux/"
    "Non, c'est faux/C'est pas vrai/Não é verdade/Non è vero/خطأ/زائف/غير صحيح",
    Verdict.MISLEADING: "No es del todo cierto/Non è del tutto vero/Contexte manquant/Sem contexto/"
    "Engañoso/enganosa/Irreführend/Fehlender Kontext/Trompeur/Enganoso/Fuorviante/مُضلِّل",
    Verdict.MIXED: "Verdad a medias/Teils, teils/C'est plus compliqué/صحيح جزئيًا",
    Verdict.TRUE: "Verdadero/Verdad/Verdade/Korrekt/Wahr/Vrai/Plutôt vrai/Verdadeiro/Vero/صحيح",
    Verdict.UNKNOWN: "No es falso/Non è falso",
    Verdict.SATIRE: "Satira/Sátira/ساخر",
}


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (words, verdict)
        for table in (ENGLISH, OTHER_LANGUAGES)
        for verdict, known in table.items()
        for words in known.split("/")
    ],
)
def test_words_mean_what_a_fact_checker_means_by_them(words: str, verdict: Verdict) -> None:
    assert verdict_of_words(words) is verdict


@pytest.mark.parametrize("words", ["", "…", "full-flop", "Fact check", "construed", "3", "Ni"])
def test_words_that_are_no_rating_mean_nothing(words: str) -> None:
    assert verdict_of_words(words) is None


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        ("1", "false"), ("2", "false"), ("2.5", "misleading"), ("3", "mixed"), ("3.5", "mixed"), ("4", "true"),
        ("5", "true"), ("", "unknown"),
    ],
)  # fmt: skip
def test_without_words_the_number_decides(value: str, verdict: str) -> None:
    assert rate("", value, "5", "1").verdict == verdict


def test_words_win_over_a_number_that_says_otherwise_and_a_flag_tells() -> None:
    rating = rate("False", "5", "5", "1")
    assert (rating.verdict, rating.score, rating.flags) == (Verdict.FALSE, 1.0, (DISAGREE,))
    assert rate("Misleading", "1", "5", "1").flags == ()


def test_a_number_in_place_of_words_counts_if_its_scale_is_known() -> None:
    assert rate("5", "", "5", "1").verdict is Verdict.TRUE
    assert rate("5", "", "", "").verdict is Verdict.UNKNOWN
