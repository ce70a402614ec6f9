import pytest

from domain.fact_check import FactCheck
from models.backbone import Encoder
from models.ranking.sentences import MOST_SENTENCES, BestSentences, split_article
from tests.unit.models.ranking.conftest import MakeFactCheck

BODY = "Dr. Reed tested the tap water. It held 0.2 milligrams a litre! Nobody was harmed."


def test_an_article_is_its_claim_its_title_and_the_sentences_of_its_body(make: MakeFactCheck) -> None:
    fact = make("The water is bad.", title="The water is fine", body=BODY)
    assert split_article(fact) == (
        "The water is bad.",
        "The water is fine",
        "Dr. Reed tested the tap water.",
        "It held 0.2 milligrams a litre!",
        "Nobody was harmed.",
    )


def test_a_sentence_that_is_said_twice_stands_once(make: MakeFactCheck) -> None:
    assert split_article(make("Same.", title="Same.", body="Same. \n\n Other.")) == ("Same.", "Other.")


def test_a_long_article_is_read_up_to_a_bound(make: MakeFactCheck) -> None:
    fact = make("A claim.", body=" ".join(f"This is sentence number {n}." for n in range(5000)))
    assert len(split_article(fact)) == MOST_SENTENCES


def test_sentences_of_other_scripts_are_split(make: MakeFactCheck) -> None:
    fact = make("主张。", body="水是好的。没有人受伤。", language="zh")
    assert split_article(fact) == ("主张。", "水是好的。", "没有人受伤。")


def test_the_sentence_nearest_to_the_post_is_found(make: MakeFactCheck, encoder: Encoder) -> None:
    fact = make("The water is bad.", title="The water is fine", body=BODY)
    posts = encoder.encode(["who got hurt? nobody got hurt", "0.2 milligrams per litre was measured"])
    found = BestSentences(encoder).find([fact, fact], posts)
    assert found == ["Nobody was harmed.", "It held 0.2 milligrams a litre!"]


def test_an_article_without_words_has_no_sentence(make: MakeFactCheck, encoder: Encoder) -> None:
    assert BestSentences(encoder).find([make("…")], encoder.encode(["some post"])) == [""]


class CountingEncoder:
    """The real encoder, counting what it is asked."""

    def __init__(self, encoder: Encoder) -> None:
        self.dim, self.version = encoder.dim, encoder.version
        self.texts = 0
        self._encoder = encoder

    def encode(self, texts):  # type: ignore[no-untyped-def]
        self.texts += len(texts)
        return self._encoder.encode(texts)


@pytest.mark.parametrize(("kept", "asked"), [(10, 2), (1, 3)])
def test_an_article_is_embedded_once_while_it_is_kept(
    make: MakeFactCheck, encoder: Encoder, kept: int, asked: int
) -> None:
    counting = CountingEncoder(encoder)
    sentences = BestSentences(counting, kept=kept)
    post = encoder.encode(["a post"])
    first, second = make("One claim."), make("Another claim.")
    for fact in (first, second, first):
        sentences.find([fact], post)
    assert counting.texts == asked


def test_a_reworded_article_is_not_answered_from_memory(make: MakeFactCheck, encoder: Encoder) -> None:
    sentences, post = BestSentences(encoder), encoder.encode(["a post"])
    before, after = make("One claim.", key="k"), make("A new wording.", key="k")
    assert [sentences.find([fact], post) for fact in (before, after)] == [["One claim."], ["A new wording."]]


def test_facts_are_told_apart(facts: list[FactCheck], encoder: Encoder) -> None:
    posts = encoder.encode([fact.claim for fact in facts])
    assert BestSentences(encoder).find(facts, posts) == [fact.claim for fact in facts]
