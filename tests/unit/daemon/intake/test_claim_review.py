"""The fields of a ClaimReview, as publishers fill them in."""

from typing import Any

import pytest

from tests.unit.daemon.intake.conftest import Take

Review = dict[str, Any]


def test_a_claim_review_gives_every_field(take: Take, review: Review) -> None:
    (record,) = take(
        "a.json", review | {"articleBody": "<p>Long.</p><p>Text.</p>", "itemReviewed": {"url": "https://x.example/p"}}
    ).records
    assert (record.key, record.url) == ("fc.example/a/42", "https://fc.example/a/42")
    assert (record.claim, record.title) == ("The moon is hollow.", "No, the moon is not hollow")
    assert (record.publisher, record.body, record.language) == ("Plain Facts Desk", "Long.\n\nText.", "en")
    assert (record.rating_given, record.rating_value, record.rating_best, record.rating_worst) == (
        "False",
        "1",
        "5",
        "1",
    )
    assert (record.rating_score, record.verdict, record.aliases) == (0.0, "false", ())
    assert f"{record.published_at:%Y-%m-%d}" == "2026-11-20"


@pytest.mark.parametrize(
    "kind", ["ClaimReview", ["Review", "ClaimReview"], "https://schema.org/ClaimReview", "schema:ClaimReview", None]
)
def test_it_is_known_by_any_way_of_naming_its_type(take: Take, review: Review, kind: Any) -> None:
    assert take("a.json", review | {"@type": kind}).claims == ["The moon is hollow."]


def test_person_and_organisation_among_the_authors_are_told_apart(take: Take, review: Review) -> None:
    authors = [{"@type": "Person", "name": "A"}, {"@type": "NewsMediaOrganization", "name": "Desk"}, "B"]
    (record,) = take("a.json", review | {"author": authors}).records
    assert (record.publisher, record.author) == ("Desk", "A, Desk, B")
    (record,) = take("a.json", review | {"author": {"name": "A"}, "publisher": {"url": "https://desk.example"}}).records
    assert (record.publisher, record.author) == ("https://desk.example", "A")


@pytest.mark.parametrize(
    ("rating", "given", "verdict"),
    [
        ("False", "False", "false"),
        ([{"alternateName": "Falso"}], "Falso", "false"),
        ({"name": "Misleading"}, "Misleading", "misleading"),
        ({"ratingExplanation": "This is false."}, "This is false.", "false"),
        ({"ratingExplanation": "It is not true that it is full.", "ratingValue": 5}, "", "true"),
        (None, "", "unknown"),
        ([], "", "unknown"),
        (3, "3", "unknown"),
        ({"ratingValue": "-1", "bestRating": "-1", "worstRating": "-1", "alternateName": "Faux"}, "Faux", "false"),
    ],
)
def test_a_rating_is_read_in_whatever_shape(take: Take, review: Review, rating: Any, given: str, verdict: str) -> None:
    (record,) = take("a.json", review | {"reviewRating": rating}).records
    assert (record.rating_given, record.verdict) == (given, verdict)


def test_the_explanation_of_a_rating_is_part_of_the_text(take: Take, review: Review) -> None:
    rating = {"alternateName": "False", "ratingExplanation": "Waves pass through."}
    (record,) = take("a.json", review | {"reviewRating": rating, "description": "In short."}).records
    assert record.body == "In short.\n\nWaves pass through."


def test_t25_the_page_it_is_about_is_the_address_and_the_own_one_another(take: Take, review: Review) -> None:
    review |= {
        "url": "https://fc.example/share/9", "mainEntityOfPage": {"@type": "WebPage", "@id": "https://www.fc.example/a/42"},
        "sameAs": ["https://fc.example/en/42", "https://fc.example/"],
    }  # fmt: skip
    (record,) = take("a.json", review).records
    assert (record.key, record.aliases) == ("fc.example/a/42", ("fc.example/en/42", "fc.example/share/9"))


@pytest.mark.parametrize(
    "main", ["https://fc.example/#page", "https://social.example/p/1", True, {"name": "x"}, "nonsense"]
)
def test_a_page_that_is_not_the_article_is_no_address(take: Take, review: Review, main: Any) -> None:
    assert take("a.json", review | {"mainEntityOfPage": main}).records[0].key == "fc.example/a/42"


def test_an_identifier_counts_only_if_it_is_a_web_address(take: Take, review: Review) -> None:
    del review["url"]
    (record,) = take("a.json", review | {"@id": "https://fc.example/a/42#review"}).records
    assert record.key == "fc.example/a/42"
    (record,) = take("a.json", review | {"@id": "#review"}).records
    assert record.key.startswith("Plain Facts Desk:")


def test_an_article_that_checks_several_claims_is_several_fact_checks(take: Take, review: Review) -> None:
    flat, again = review | {"claimReviewed": "The moon is flat."}, review | {"claimReviewed": "The Moon is hollow"}
    taken = take("a.json", {"@graph": [review, flat, again]})
    first, second, third = taken.records
    assert (first.key, third.key) == ("fc.example/a/42", "fc.example/a/42")
    assert second.key.startswith("fc.example/a/42#")
    assert second == take("a.json", {"@graph": [review, flat]}).records[1]


def test_junk_in_every_field_harms_nothing_but_the_record(take: Take, review: Review) -> None:
    junks: list[Any] = [None, 7, True, [], {}, [[]], [{}], {"name": {"name": ["x"]}}, "\0", "\ud800"]
    for junk in junks:
        for name in list(review):
            taken = take("a.json", [review | {name: junk}, review])
            assert len(taken.records) + len(taken.rejected) in {1, 2}
            assert taken.records[-1].claim == "The moon is hollow."
