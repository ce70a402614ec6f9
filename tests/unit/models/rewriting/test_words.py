import pytest

from models.rewriting.words import content_words, rarest, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("covid-19 costs 2.5 billion", ["covid-19", "costs", "2.5", "billion"]),
        ('lead: "banned" -- see cdc:report #water @who', ["lead", "banned", "see", "cdc", "report", "water", "who"]),
        ("read https://fc.example/a/42 now", ["read", "now"]),
        ("पानी पर प्रतिबंध", ["पानी", "पर", "प्रतिबंध"]),
        ("🚰 !? …", []),
    ],
)
def test_words_are_taken_as_written(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The vaccine is not in the water", "en", ["vaccine", "water"]),
        ("The vaccine's chips don’t work, couldn't work", "en", ["vaccine", "chips", "work"]),
        ("They're saying we'll drink O'Brien's water", "en", ["saying", "drink", "Brien", "water"]),
        ("L'eau du robinet n'est pas interdite à Paris", "fr", ["eau", "robinet", "interdite", "Paris"]),
        ("Dell'acqua è vietata", "it", ["acqua", "vietata"]),
        ("Das Wasser ist nicht verboten", "de", ["Wasser", "verboten"]),
        ("Maji ya bomba yamepigwa marufuku", "sw", ["Maji", "ya", "bomba", "yamepigwa", "marufuku"]),
        ("Fluoride AND lead OR not", "en", ["Fluoride", "lead"]),
        ("Water water WATER", "en", ["Water"]),
        ("not the of", "en", []),
    ],
)
def test_content_words_are_what_the_claim_is_about(text: str, language: str, expected: list[str]) -> None:
    assert content_words(text, language) == expected


class Counts:
    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = counts

    def document_frequency(self, word: str) -> int:
        return self._counts.get(word, 0)

    def __len__(self) -> int:
        return 100


def test_the_rarest_come_first_and_equal_ones_in_the_order_of_the_claim() -> None:
    counts = Counts({"water": 9, "fluoride": 1, "cities": 4, "lead": 4})
    assert rarest(["water", "lead", "cities", "fluoride"], counts, 3) == ["fluoride", "lead", "cities"]
