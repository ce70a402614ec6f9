import pytest

from models.language import detect_language, is_latin


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Tap water is banned in three cities", "en"),
        ("El agua del grifo causa enfermedades", "es"),
        ("L'eau du robinet est interdite", "fr"),
        ("Trinkwasser ist ab morgen verboten", "de"),
        ("नल का पानी प्रतिबंधित है", "hi"),
        ("水道水は禁止", "ja"),
        ("#tapwater #banned #covid19", "en"),
        ("RT @name_en: ماء الصنبور ممنوع https://en.example/long/english/path", "ar"),
    ],
)
def test_the_language_of_the_words_is_found(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_links_handles_and_the_retweet_mark_do_not_vote() -> None:
    english = "https://en.example/this/is/a/long/english/path www.english.example/words @the_english_name RT"
    assert detect_language(f"{english} el agua del grifo está prohibida") == "es"


def test_mixed_text_gets_one_of_its_languages() -> None:
    assert detect_language("El agua está banned in the city jaja") in {"es", "en"}


@pytest.mark.parametrize("text", ["", "   ", "🚰🚰🚰", "@a @b", "#…", "https://fc.example/a/42", "12345 67", "\0"])
def test_a_text_without_words_has_no_language(text: str) -> None:
    assert detect_language(text) == "und"


@pytest.mark.parametrize("text", ["ok", "lol", "the", "да", "水"])
def test_a_text_that_says_too_little_has_no_language(text: str) -> None:
    assert detect_language(text) == "und"


@pytest.mark.parametrize(
    "text", ["Qwx zzkj vvbn wqpl xkcd", "Deutsche Bank Auschwitz ISIS", "kok ni lah cakap pasal wey apa"]
)
def test_an_uncertain_guess_is_not_given_and_codes_have_two_letters(text: str) -> None:
    assert detect_language(text) == "und" or len(detect_language(text)) == 2


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        ("It is so", True),
        ("đã có", True),
        ("так и есть", False),
        ("疫苗", False),
        ("5G 疫苗 ok", True),
        ("🚰 42", True),
    ],
)
def test_letters_are_latin_or_not(text: str, *, latin: bool) -> None:
    assert is_latin(text) == latin
