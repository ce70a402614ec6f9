"""From what a source said to what is stored."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from daemon.intake.cleaning import DATE_ASIDE, LANGUAGE_ASIDE, NO_ARTICLE, NO_HOST, NUL_REMOVED, UnusableRecord, clean
from daemon.intake.record import FactCheckRecord, RawFactCheck
from domain.fact_check import Verdict

RAW = RawFactCheck(url="https://www.fc.example/a/42/?utm_source=x", claim="The moon is hollow.", rating="False")


def cleaned(raw: RawFactCheck) -> FactCheckRecord:
    return clean(raw, source="dump", clock=lambda: datetime(2026, 11, 28, 8, tzinfo=UTC))


def test_the_key_is_the_canonical_address_and_the_address_stays_as_given() -> None:
    record = cleaned(RAW)
    assert (record.key, record.url, record.rating_flags) == ("fc.example/a/42", RAW.url, ())


def test_without_an_address_the_key_is_the_id_behind_the_source() -> None:
    record = cleaned(replace(RAW, url="", id="vclaim-7"))
    assert (record.key, record.url) == ("dump:vclaim-7", None)


def test_without_address_and_id_the_key_is_publisher_and_claim_whatever_the_file() -> None:
    raw = replace(RAW, url="", publisher="Plain Facts")
    one, other = (
        clean(raw, source="monday"),
        clean(replace(raw, claim=" THE moon is <b>hollow</b>. "), source="tuesday"),
    )
    assert one.key == other.key
    assert one.key.startswith("Plain Facts:")
    assert cleaned(replace(raw, claim="The moon is flat.")).key != one.key
    assert cleaned(replace(raw, publisher="Other Facts")).key != one.key


def test_an_address_without_a_host_is_an_id() -> None:
    record = cleaned(replace(RAW, url="/factchecks/2010/jul/19/hollow/"))
    assert (record.key, record.url, record.rating_flags) == ("dump:/factchecks/2010/jul/19/hollow", None, (NO_HOST,))


def test_a_front_page_names_no_article() -> None:
    one, other = (
        cleaned(replace(RAW, url="https://fc.example/", claim=claim)) for claim in ("It is flat.", "It is red.")
    )
    assert one.key != other.key
    assert (one.url, one.rating_flags) == ("https://fc.example/", (NO_ARTICLE,))


def test_an_address_may_leave_its_scheme_to_the_page_and_hold_an_encoded_ampersand() -> None:
    assert cleaned(replace(RAW, url="//fc.example/n.php?b=2&amp;section=1")).key == "fc.example/n.php?b=2&section=1"


@pytest.mark.parametrize("url", ["javascript:alert(1)", "fc.example/a", "ftp://fc.example/a", "see below", "https://"])
def test_an_address_that_is_none_makes_the_record_unusable(url: str) -> None:
    with pytest.raises(UnusableRecord, match=r"no http\(s\) address") as caught:
        cleaned(replace(RAW, url=url))
    assert caught.value.field == "url"


@pytest.mark.parametrize("field", ["url", "id", "publisher"])
def test_a_key_that_no_index_takes_makes_the_record_unusable(field: str) -> None:
    long = "https://fc.example/" + "ä" * 1500
    raw = replace(RAW, url=long if field == "url" else "", id=long if field == "id" else "", publisher=long)
    with pytest.raises(UnusableRecord, match="longer than 2000 bytes") as caught:
        cleaned(raw)
    assert caught.value.field == field


@pytest.mark.parametrize("claim", ["", " \n", "<p>&nbsp;</p>", "\0", "<script>x()</script>"])
def test_a_record_without_a_claim_is_unusable_even_with_a_title(claim: str) -> None:
    with pytest.raises(UnusableRecord) as caught:
        cleaned(replace(RAW, claim=claim, title="The moon"))
    assert caught.value.field == "claim"


def test_t05_nuls_are_taken_out_everywhere_and_a_flag_tells() -> None:
    nul = "ab\0cd"
    raw = RawFactCheck(
        url=f"https://fc.example/{nul}", claim=nul, title=nul, body=nul, publisher=nul, author=nul, rating="Fal\0se",
        rating_value="1\0", published_at="2026-11-20\0", aliases=(f"https://fc.example/alias{nul}",),
    )  # fmt: skip
    record = cleaned(raw)
    texts = (record.claim, record.title, record.body, record.publisher, record.author)
    assert texts == ("abcd",) * 5
    assert (record.key, record.url) == ("fc.example/abcd", "https://fc.example/abcd")
    assert (record.verdict, record.rating_value, record.aliases) == (Verdict.FALSE, "1", ("fc.example/aliasabcd",))
    assert record.published_at == datetime(2026, 11, 20, tzinfo=UTC)
    assert NUL_REMOVED in record.rating_flags


def test_a_date_that_cannot_be_is_kept_aside_in_a_flag() -> None:
    record = cleaned(replace(RAW, published_at="32 May 2087"))
    assert (record.published_at, record.rating_flags) == (None, (f"{DATE_ASIDE}: 32 May 2087",))


def test_numbers_of_a_rating_are_kept_as_given() -> None:
    record = cleaned(replace(RAW, rating="", rating_value="2,5", rating_best="5", rating_worst="1"))
    assert (record.rating_value, record.rating_best, record.rating_worst) == ("2,5", "5", "1")
    assert record.rating_score == 0.375
    assert cleaned(RAW).rating_value is None


def test_other_addresses_are_canonical_and_never_the_key_itself() -> None:
    aliases = (
        "http://fc.example/amp/a/42",
        "https://fc.example/old/42?fbclid=1",
        "javascript:x",
        "https://fc.example/",
    )
    assert cleaned(replace(RAW, aliases=aliases)).aliases == ("fc.example/old/42",)


@pytest.mark.parametrize(
    ("given", "tag"), [("en-GB", "en"), ("pt_BR", "pt"), (" AR ", "ar"), ("English", ""), ("und", ""), ("", "")]
)
def test_the_language_is_a_primary_tag_or_unknown(given: str, tag: str) -> None:
    assert cleaned(replace(RAW, language=given)).language == tag


@pytest.mark.parametrize(("given", "kept"), [("klingon", "klingon"), ("k" * 10_000, "k" * 59 + "…")])
def test_a_language_that_is_none_is_kept_aside_in_a_flag(given: str, kept: str) -> None:
    assert cleaned(replace(RAW, language=given)).rating_flags == (f"{LANGUAGE_ASIDE}: {kept}",)
    assert cleaned(replace(RAW, language="und")).rating_flags == ()


def test_cleaning_a_clean_record_changes_nothing() -> None:
    """Rows in the table are cleaned whenever they change."""
    once = cleaned(
        replace(RAW, claim="Use &lt;b&gt; &amp;amp; more", title="<i>T</i>", body="<p>a</p><p>b &amp;lt; c</p>")
    )
    again = cleaned(
        RawFactCheck(url=once.url or "", claim=once.claim, title=once.title, body=once.body, rating=once.rating_given)
    )
    assert again == once
