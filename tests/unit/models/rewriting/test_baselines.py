from collections import defaultdict
from collections.abc import Callable

import pytest

from domain.fact_check import Claim
from domain.ids import FactCheckId
from domain.query import EndpointKind, Query
from models.retrieval.analyser import ENGLISH, Analyser
from models.retrieval.bm25 import BM25Index
from models.rewriting import baselines
from models.rewriting.baselines import RelevanceFeedback
from models.rewriting.edits import TextEdits
from models.rewriting.tagging import tag

STANDARD = Analyser(stem=False)
RANKED = EndpointKind.RANKED
TEXTS = {
    "1": "the tap water of three cities has fluoride and lead in it",
    "2": "the cities banned tap water, the map is inside",
    "3": "water water everywhere, and the lead is in the map",
    "4": "three of the cities are on the map",
    "5": "the cat drinks tap water",
    **{f"other {number}": f"it is the text number {number} of what was in a book" for number in range(30)},
}


def index_of(analyser: Analyser) -> BM25Index:
    index = BM25Index(analyser, k1=1.2, b=0.75)
    index.add(list(TEXTS), list(TEXTS.values()))
    return index


INDEX = index_of(STANDARD)


def claim(text: str) -> Claim:
    return Claim(FactCheckId(1), text, "en")


def weights(query: Query) -> dict[str, float]:
    """Of all mentions of a word together."""
    summed: defaultdict[str, float] = defaultdict(float)
    for (term,) in query.groups:
        summed[term.text] += term.weight
    return dict(summed)


def test_content_words_are_kept_in_order() -> None:
    query = baselines.only_content_words(claim("The cities have not banned the tap water"), EndpointKind.DENSE)
    assert (query.kind, query.text) == (EndpointKind.DENSE, "cities banned tap water")


def test_the_rarest_words_that_occur_are_kept_in_order() -> None:
    query = baselines.rarest_words(claim("Marsupial cities banned water with fluoride"), RANKED, INDEX, 2)
    assert query.text == "banned fluoride"


def test_rare_words_weigh_more_and_the_mean_is_about_one() -> None:
    asked = claim("the cities banned marsupial water")
    found = weights(baselines.idf_boosts(asked, INDEX, 1.0))
    assert found.keys() == {"cities", "banned", "water"}  # less than a fortieth is left of "the"
    assert found["banned"] > found["cities"]
    assert sum(found.values()) / 4 == pytest.approx(1, abs=0.025)
    assert all(20 * weight == pytest.approx(round(20 * weight)) for weight in found.values())
    assert weights(baselines.idf_boosts(asked, INDEX, 0.0)) == dict.fromkeys(("the", "cities", "banned", "water"), 1.0)
    assert weights(baselines.idf_boosts(asked, INDEX, 3.0))["banned"] > found["banned"]


def test_random_edits_are_legal_and_repeat() -> None:
    text = "The cities quickly banned drinking tap water with fluoride"
    [tokens] = tag([text])
    edits = TextEdits()
    drawn = [baselines.random_edits(claim(text), RANKED, tokens, edits, seed=seed) for seed in (0, 0, 1, 2)]
    assert drawn[0] == drawn[1]
    assert len({query.text for query in drawn}) == 3
    for query in drawn:
        assert len(query.trail) == baselines.MOST_EDITS
        assert edits.replay(tokens, query.trail).text == query.text


def test_random_edits_never_leave_nothing() -> None:
    [tokens] = tag(["Whales sing"])
    for seed in range(20):
        assert baselines.random_edits(claim("Whales sing"), RANKED, tokens, TextEdits(), seed=seed).text


def test_feedback_adds_what_the_texts_found_have_in_common() -> None:
    feedback = RelevanceFeedback(INDEX, STANDARD, TEXTS)
    found = weights(feedback.query(claim("fluoride cities"), 0.5))
    assert {"fluoride", "cities"} < found.keys()
    assert "lead" in found and "book" not in found
    assert sum(found.values()) == pytest.approx(2, abs=0.3)  # half of it the claim's


def test_more_weight_on_the_claim_leaves_less_to_feedback() -> None:
    feedback = RelevanceFeedback(INDEX, STANDARD, TEXTS)
    little, much = (weights(feedback.query(claim("fluoride"), original)) for original in (0.5, 0.9))
    assert little["lead"] > much.get("lead", 0)


def test_feedback_leaves_out_words_of_most_texts_and_writes_words_that_the_index_reads_as_their_stem() -> None:
    common = RelevanceFeedback(INDEX, STANDARD, TEXTS).query(claim("fluoride"), 0.5)
    assert "the" not in weights(common) and "in" not in weights(common)
    index = index_of(ENGLISH)
    found = weights(RelevanceFeedback(index, ENGLISH, TEXTS).query(claim("fluoride in cities"), 0.5))
    assert "everywhere" not in found and "cities" in found
    assert "citi" not in found and all(index.document_frequency(word) for word in found)


def only_function_words(make: Callable[[Claim], Query]) -> str:
    return make(claim("it was what it was")).text


def test_a_claim_of_which_nothing_is_left_is_sent_as_it_is() -> None:
    english = index_of(ENGLISH)
    feedback = RelevanceFeedback(english, ENGLISH, TEXTS)
    makes: list[Callable[[Claim], Query]] = [
        lambda asked: baselines.only_content_words(asked, RANKED),
        lambda asked: baselines.rarest_words(asked, RANKED, INDEX, 3),
        lambda asked: baselines.idf_boosts(asked, english, 1.0),
        lambda asked: feedback.query(asked, 0.7),
    ]
    assert {only_function_words(make) for make in makes} == {"it was what it was"}
