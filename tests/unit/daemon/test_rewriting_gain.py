import pytest

from daemon.rewriting_gain import rewording
from daemon.store.digest_rows import RecordedQuery
from domain.fact_check import Claim
from domain.ids import FactCheckId
from domain.query import Edit, EndpointKind
from reports.view import Rewording

CLAIM = Claim(FactCheckId(1), "Doctors say the vaccine's microchips cause fever", "en")


def query(words: str, *edits: Edit, kind: EndpointKind = EndpointKind.BOOLEAN) -> RecordedQuery:
    terms = [[(word, 1.0) for word in group.split("|")] for group in words.split()]
    return RecordedQuery(1, 1, kind, "learned", "p", terms, [str(edit) for edit in edits])


def test_words_of_one_stem_are_not_left_out() -> None:
    assert rewording(CLAIM, query("doctor vaccine microchip fevers caused")) == Rewording(left_out=("say",))


def test_a_word_that_was_replaced_is_not_left_out() -> None:
    told = rewording(CLAIM, query("doctors say jab microchips cause fever", Edit("swap", "vaccine", "jab", 2)))
    assert told == Rewording(replaced=(("vaccine", "jab"),))


def test_a_word_that_was_replaced_twice_is_told_by_what_stands_there_at_last() -> None:
    edits = Edit("swap", "vaccine", "jab", 2), Edit("swap", "jab", "inoculation", 2)
    told = rewording(CLAIM, query("doctors say inoculation microchips cause fever", *edits))
    assert told == Rewording(replaced=(("vaccine", "inoculation"),))


def test_an_edit_that_was_taken_back_is_not_told() -> None:
    edits = Edit("swap", "vaccine", "jab", 2), Edit("remove", "jab", position=2)
    told = rewording(CLAIM, query("doctors say microchips cause fever", *edits))
    assert told == Rewording(left_out=("vaccine",))


def test_alternatives_of_a_boolean_query_stand_in_it_and_are_not_told() -> None:
    edits = Edit("add synonym", "vaccine", "jab", 2), Edit("present simple", "cause", "causes, caused", 4)
    told = rewording(CLAIM, query("doctors say vaccine|jab microchips cause|causes|caused fever", *edits))
    assert told == Rewording()


def test_what_joined_a_text_and_what_it_says_in_the_present_is_told() -> None:
    claim = Claim(FactCheckId(1), "Doctors found a chip", "en")
    edits = Edit("add synonym", "chip", "bit", 2), Edit("present simple", "found", "find", 1)
    told = rewording(claim, query("Doctors find a chip bit", *edits, kind=EndpointKind.RANKED))
    assert told == Rewording(replaced=(("found", "find"),), added=("bit",))


def test_weights_of_a_ranked_query_are_told() -> None:
    edits = Edit("less", "say", "× 0.5"), Edit("more", "vaccine's", "× 1.5"), Edit("leave out", "the")
    told = rewording(CLAIM, query("Doctors say vaccine's microchips cause fever", *edits, kind=EndpointKind.RANKED))
    assert told == Rewording(raised=("vaccine's",), lowered=("say",))


@pytest.mark.parametrize("edit", [Edit("keep every word of the claim"), Edit("leave out", "Doctors", "occurs nowhere")])
def test_edits_that_show_in_the_query_itself_are_not_told_twice(edit: Edit) -> None:
    told = rewording(CLAIM, query("say vaccine microchips cause fever", edit))
    assert told == Rewording(left_out=("Doctors",))
