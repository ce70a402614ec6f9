from collections.abc import Sequence

from domain.fact_check import Claim
from domain.ids import FactCheckId
from domain.query import Query
from models.retrieval.boolean import BooleanIndex
from models.rewriting.boolean_baselines import most_words, rarest_together, rarest_under, triples_of_four

POSTS = [
    "tap water with fluoride and lead", "banned tap water", "water and lead on the map", "cities on the map",
    "cats drink tap water", "water", "tap",
]  # fmt: skip
INDEX = BooleanIndex()
INDEX.add([str(number) for number in range(len(POSTS))], POSTS)


def claim(text: str) -> Claim:
    return Claim(FactCheckId(1), text, "en")


def count(queries: Sequence[Query]) -> list[float]:
    return [float(INDEX.count(query)) for query in queries]


def said(queries: list[Query]) -> list[str]:
    return [str(query) for query in queries]


def test_the_rarest_words_that_occur() -> None:
    assert said(rarest_together(claim("Marsupial fluoride in the tap water"), INDEX, 2)) == ["fluoride AND tap"]
    assert rarest_together(claim("it was"), INDEX, 2) == []


def test_the_triples_of_the_four_rarest() -> None:
    asked = "fluoride banned lead map water"
    assert said(triples_of_four(claim(asked), INDEX)) == [
        "fluoride AND banned AND lead", "fluoride AND banned AND map", "fluoride AND lead AND map",
        "banned AND lead AND map",
    ]  # fmt: skip
    assert said(triples_of_four(claim("tap water"), INDEX)) == ["tap AND water"]
    assert triples_of_four(claim("it was"), INDEX) == []


def test_the_fewest_words_that_some_posts_hold_but_few() -> None:
    asked = claim("Cats and tap water")
    assert said(rarest_under(asked, INDEX, count, 1)) == ["Cats"]
    assert said(rarest_under(claim("tap water lead"), INDEX, count, 1)) == ["lead AND tap"]
    assert said(rarest_under(claim("tap water lead"), INDEX, count, 2)) == ["lead"]
    assert rarest_under(claim("tap water"), INDEX, count, 2) == []


def test_the_most_words_that_some_post_holds_together() -> None:
    assert said(most_words(claim("fluoride banned lead tap map water"), INDEX, count)) == [
        "fluoride AND lead AND tap AND water"
    ]
    assert said(most_words(claim("banned map cities"), INDEX, count)) == ["cities AND map"]
    assert most_words(claim("marsupials"), INDEX, count) == []
