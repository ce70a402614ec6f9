import pytest

from models.ranking.overlap import WordOverlap
from models.retrieval.analyser import ENGLISH
from tests.unit.models.ranking.conftest import MakeFactCheck


def tokens(text: str) -> frozenset[str]:
    return frozenset(ENGLISH(text))


def test_a_post_that_repeats_the_claim_covers_it(make: MakeFactCheck) -> None:
    fact = make("The Kestrel Bridge will close.")
    assert WordOverlap([fact]).measure(tokens("the Kestrel bridge closes"), 0).coverage == 1.0


def test_a_post_that_shares_only_small_words_covers_nothing(make: MakeFactCheck) -> None:
    fact = make("The bridge of the town will close.")
    overlap = WordOverlap([fact]).measure(tokens("the man of the hour will sing"), 0)
    assert (overlap.coverage, overlap.shared) == (0.0, 0.0)


def test_a_rare_word_weighs_more_than_a_common_one(make: MakeFactCheck) -> None:
    overlap = WordOverlap([make("A kestrel saw people.")])
    assert overlap.measure(tokens("kestrel"), 0).coverage > overlap.measure(tokens("people"), 0).coverage


def test_words_of_the_title_are_shared_but_do_not_cover_the_claim(make: MakeFactCheck) -> None:
    overlap = WordOverlap([make("The bridge will close.", title="Kestrel stays open")]).measure(tokens("kestrel"), 0)
    assert overlap.coverage == 0.0
    assert overlap.shared > 5


def test_words_of_the_body_do_not_count(make: MakeFactCheck) -> None:
    overlap = WordOverlap([make("The bridge will close.", body="A kestrel nests there.")])
    assert overlap.measure(tokens("kestrel"), 0).shared == 0.0


def test_the_measure_does_not_depend_on_the_rest_of_the_collection(make: MakeFactCheck) -> None:
    fact = make("The Kestrel Bridge will close.")
    alone = WordOverlap([fact]).measure(tokens("kestrel"), 0)
    among_many = WordOverlap([fact, *(make(f"Kestrel number {n}") for n in range(50))]).measure(tokens("kestrel"), 0)
    assert alone == among_many


@pytest.mark.parametrize("claim", ["", "…", "of the"])
def test_a_claim_without_content_words_is_covered_by_nothing(make: MakeFactCheck, claim: str) -> None:
    assert WordOverlap([make(claim)]).measure(tokens("of the bridge"), 0).coverage == 0.0


def test_function_words_of_the_claim_s_language_say_nothing(make: MakeFactCheck) -> None:
    fact = make("Más de mil personas están sin agua para siempre.", language="es")
    assert WordOverlap([fact]).measure(tokens("más están para de sin"), 0).coverage < 0.1
