import pytest
from wordfreq import available_languages

from models.retrieval.statistics import TermStatistics
from models.retrieval.word_frequency import SIZE, WordFrequency


def test_it_tells_how_common_words_are() -> None:
    statistics: TermStatistics = WordFrequency("en")
    counts = [statistics.document_frequency(word) for word in ("the", "water", "fluoride", "zzqqxy")]
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) == len(counts)
    assert 0 < counts[-1] < counts[0] < len(statistics) == SIZE


@pytest.mark.parametrize("word", ["zzqqxy", "", "🚰", "\0", "…", "z" * 10_000])
def test_a_word_that_no_list_knows_counts_once(word: str) -> None:
    assert WordFrequency("en").document_frequency(word) == 1


def test_a_word_is_as_common_as_in_the_claims_language_or_in_english() -> None:
    spanish, english = WordFrequency("es"), WordFrequency("en")
    assert spanish.document_frequency("agua") > 100 * english.document_frequency("agua")
    assert spanish.document_frequency("water") >= english.document_frequency("water")


@pytest.mark.parametrize("language", ["und", "", "xx", "sw", "not-a-tag", "\0"])
def test_in_an_unknown_language_english_counts(language: str) -> None:
    assert WordFrequency(language).document_frequency("water") == WordFrequency("en").document_frequency("water")


@pytest.mark.parametrize("language", sorted(available_languages("small")))
def test_every_language_answers_for_words_of_every_script(language: str) -> None:
    statistics = WordFrequency(language)
    for word in ("Wasser", "ماء", "वाटर", "น้ำ", "水道水", "물", "covid-19", "l'eau", "2.5"):
        assert 1 <= statistics.document_frequency(word) < SIZE


def test_case_is_no_matter() -> None:
    assert WordFrequency("de").document_frequency("WASSER") == WordFrequency("de").document_frequency("wasser")
