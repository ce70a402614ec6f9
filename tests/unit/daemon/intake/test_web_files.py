"""Pages and feeds that carry ClaimReview."""

import json
from typing import Any

import pytest

from daemon.intake.reader import ReadOptions
from domain.errors import BadInput
from tests.unit.daemon.intake.conftest import Take

Review = dict[str, Any]


def page(*scripts: Any, head: str = "") -> str:
    blocks = [s if isinstance(s, str) else json.dumps(s) for s in scripts]
    tags = "".join(f'\n<script type="application/ld+json">{block}</script>' for block in blocks)
    return f"<!doctype html><html><head><title>t</title>{head}{tags}</head><body><p>Text</p></body></html>"


def rss(*items: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel>{"".join(items)}</channel></rss>'


def test_every_block_of_a_page_is_read(take: Take, review: Review) -> None:
    taken = take("p.html", page({"@type": "WebSite"}, "", review, [review | {"url": "https://fc.example/a/43"}]))
    assert [r.key for r in taken.records] == ["fc.example/a/42", "fc.example/a/43"]
    assert taken.rejected == []


def test_t25_the_canonical_link_of_a_page_is_its_address(take: Take, review: Review) -> None:
    amp = review | {"url": "https://fc.example/mobile/story-42"}
    for link in (
        '<link rel="canonical" href="https://fc.example/a/42">',
        "<link href='/a/42' rel='Canonical nofollow'>",
    ):
        (record,) = take("p.html", page(amp, head=link)).records
        assert (record.key, record.url) == ("fc.example/a/42", "https://fc.example/a/42")
        assert record.aliases == ("fc.example/mobile/story-42",)


@pytest.mark.parametrize("href", ["https://fc.example/", "", "javascript:x", "/"])
def test_a_canonical_link_to_no_article_is_not_believed(take: Take, review: Review, href: str) -> None:
    (record,) = take("p.html", page(review, head=f'<link rel="canonical" href="{href}">')).records
    assert record.key == "fc.example/a/42"


def test_a_block_with_slips_is_read_as_it_was_meant(take: Take, review: Review) -> None:
    good = json.dumps(review, indent=1)
    for block in (
        good.replace("\n}", ",\n}"),
        good.replace("hollow.", "hol\tlow\n."),
        f"<!--\n{good}\n-->",
        f"//<![CDATA[\n{good}\n//]]>",
        good + ";",
    ):
        assert len(take("p.html", page(block)).records) == 1, block


def test_commas_within_texts_are_left_alone(take: Take, review: Review) -> None:
    broken = json.dumps(review | {"claimReviewed": 'It said ",}" twice, ]'}).removesuffix("}") + ",}"
    assert take("p.html", page(broken)).claims == ['It said ",}" twice, ]']


def test_a_block_that_does_not_parse_is_rejected_with_its_line(take: Take, review: Review) -> None:
    taken = take("p.html", page('{"@type": "BreadcrumbList" oops', '{"@type": "ClaimReview" oops', review))
    assert taken.claims == ["The moon is hollow."]
    ((rejected),) = taken.rejected
    assert (rejected.row, rejected.record) == (3, '{"@type": "ClaimReview" oops')


@pytest.mark.parametrize("text", [page(), page({"@type": "Article"}), "<!-- nothing -->", "<p>", page("{broken")])
def test_a_page_without_claim_review_is_refused(take: Take, text: str) -> None:
    with pytest.raises(BadInput, match="holds no ClaimReview"):
        take("p.html", text)


def test_a_page_that_says_it_is_xml_is_read_too(take: Take, review: Review) -> None:
    assert len(take("p.html", '<?xml version="1.0" encoding="ISO-8859-1"?>' + page(review)).records) == 1


def test_items_of_a_feed_count_only_if_they_carry_claim_review(take: Take, review: Review) -> None:
    block, other = page(review), review | {"url": "https://fc.example/a/43"}
    feed = rss(
        f"\n<item><title>T</title><link>https://fc.example/a/42</link><description><![CDATA[{block}]]></description></item>",
        "\n<item><title>News</title><link>https://fc.example/n</link><description>Just news.</description></item>",
        f"\n<item><x:json xmlns:x='urn:x'><![CDATA[{json.dumps(other)}]]></x:json></item>",
        "\n<item><description>{broken</description></item>",
    )
    taken = take("f.xml", feed)
    assert [r.key for r in taken.records] == ["fc.example/a/42", "fc.example/a/43"]
    assert [(r.row, r.reason) for r in taken.rejected] == [(row, "the item carries no ClaimReview") for row in (4, 6)]
    assert "Just news." in taken.rejected[0].record


def test_what_a_review_leaves_out_its_item_gives(take: Take) -> None:
    review = {"@type": "ClaimReview", "claimReviewed": "It glows."}
    entry = (
        "<feed xmlns='http://www.w3.org/2005/Atom'><entry><title>No glow</title><summary>In short</summary>"
        "<link rel='enclosure' href='https://fc.example/pod'/><link href='https://fc.example/a/1'/>"
        f"<published>2026-11-20T10:00:00Z</published><content><![CDATA[{json.dumps(review)}]]></content></entry></feed>"
    )
    (record,) = take("f.atom", entry).records
    assert (record.key, record.title, record.body) == ("fc.example/a/1", "No glow", "In short")
    assert f"{record.published_at:%Y-%m-%d %H}" == "2026-11-20 10"


def test_a_feed_says_its_encoding_itself(take: Take, review: Review) -> None:
    found = json.dumps(review | {"claimReviewed": "Café"}, ensure_ascii=False)
    text = rss(f"<item><description><![CDATA[{found}]]></description></item>")
    latin = text.replace("UTF-8", "ISO-8859-1").encode("latin-1")
    assert take("f.xml", latin).claims == ["Café"]
    assert take("f.xml", text.replace("UTF-8", "UTF-16").encode("utf-16")).claims == ["Café"]
    assert take("f.xml", text.encode("latin-1"), ReadOptions(encoding="latin-1")).claims == ["Café"]


def test_nothing_is_fetched_or_expanded_for_a_feed(take: Take, review: Review) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY f SYSTEM "file:///etc/hostname">]>'
    found = json.dumps(review | {"headline": ""})
    item = f"<item><title>&f;&a;</title><description><![CDATA[{found}]]></description></item>"
    (record,) = take("f.xml", rss(item).replace("<rss", bomb + "<rss", 1)).records
    assert record.title == "&f;&a;"


@pytest.mark.parametrize("text", ["<rss><channel>", "no feed", "<html></html>", "<rss><channel/></rss>", "   "])
def test_a_file_that_is_no_feed_with_items_is_refused_in_one_line(take: Take, text: str) -> None:
    with pytest.raises(BadInput) as caught:
        take("f.xml", text)
    assert "\n" not in str(caught.value)
