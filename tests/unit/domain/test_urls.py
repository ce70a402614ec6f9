"""One article, one key, whatever address it is reached by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.urls import canonical_url, links_in


@pytest.mark.parametrize(
    "url",
    [
        "http://www.fc.example/a/42/?utm_source=x",
        "https://fc.example/a/42",
        "https://fc.example/a/42#top",
        "https://fc.example/amp/a/42",
        "https://fc.example/a/42/amp/",
        "https://fc.example/a/42?amp",
        "https://fc.example/a/42?outputType=amp&fbclid=1&at_medium=rss",
        "https://FC.example.:443//a//42/index.html",
        "https://m.fc.example/a/%34%32",
        "https://www.google.com/amp/s/www.fc.example/amp/a/42",
        "https://fc-example.cdn.ampproject.org/c/s/fc.example/amp/a/42",
        "https://reader:secret@fc.example/a/42",
        "  https://fc.example/a/4\x002\n",
    ],
)
def test_one_article_at_many_addresses_has_one_key(url: str) -> None:
    assert canonical_url(url) == "fc.example/a/42"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://fc2.example/n.php?id=79489", "https://fc2.example/n.php?id=79336"),
        ("https://fc.example/a/42", "https://fc.example/A/42"),
        ("https://fc.example/a?output=1", "https://fc.example/a?output=2"),
        ("https://fc.example/a%3Fb", "https://fc.example/a?b"),
        ("https://fc.example/%FF", "https://fc.example/%FE"),
        ("https://fc.example:8080/a", "https://fc.example/a"),
        ("https://fc.example/amplifier", "https://fc.example/lifier"),
    ],
)
def test_different_pages_have_different_keys(one: str, other: str) -> None:
    assert canonical_url(one) != canonical_url(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("https://fc.example/a\u0308", "https://fc.example/ä"),
        ("https://fc.example/a b", "https://fc.example/a%20b"),
        ("https://fc.example/n?b=2&a=1", "https://fc.example/n?a=1&b=2"),
        ("https://fc.example/a%2fb", "https://fc.example/a/b"),
    ],
)
def test_ways_of_writing_one_address_do_not_matter(one: str, other: str) -> None:
    assert canonical_url(one) == canonical_url(other)


@pytest.mark.parametrize(
    "url",
    [
        "", "javascript:alert(1)", "data:text/html,x", "ftp://fc.example/a", "mailto:desk@fc.example", "/factchecks/1",
        "fc.example/a", "https://", "https:///a", "https://localhost/a", "https://fc..example/a",
        "https://a b.example/", "https://[::1]/", "https://[broken", "https://fc.example:99999/", 
        "https://fc.example\u2100.example/", "http://\udcff.example/",
    ],
)  # fmt: skip
def test_what_is_no_web_address_has_no_key(url: str) -> None:
    assert canonical_url(url) is None


def test_a_short_host_keeps_its_first_label() -> None:
    assert canonical_url("https://m.example/a") == "m.example/a"
    assert canonical_url("https://www.m.fc.example/a") == "fc.example/a"


_PIECES = st.sampled_from(
    "/ // amp .amp .html index.php %2F %3F %25 %C3 %A4 %ff %00 %E2%80%8B a Ä \u0308 ? # & = utm_x www. m. :80 s c "
    ".cdn.ampproject.org google.com fc.example \ud800 \0".split(" ")
)


@given(
    st.one_of(st.text(), st.lists(_PIECES).map("".join), st.lists(_PIECES).map(lambda p: "fc.example/" + "".join(p)))
)
def test_a_key_is_the_key_of_itself_and_can_be_stored(rest: str) -> None:
    key = canonical_url("https://" + rest)
    if key is not None:
        assert canonical_url("https://" + key) == key
        assert "\0" not in key.encode().decode()


def test_links_are_read_without_what_surrounds_them() -> None:
    text = (
        "See https://fc.example/a/42, (http://fc.example/b). https://fc.example/wiki/Moon_(film)! “https://fc.example/q”"
        " https://fc.example/ü。次 HTTPS://FC.example/x… https://fc.example/a/42 https://..."
    )
    assert links_in(text) == (
        "https://fc.example/a/42", "http://fc.example/b", "https://fc.example/wiki/Moon_(film)", "https://fc.example/q",
        "https://fc.example/ü", "HTTPS://FC.example/x",
    )  # fmt: skip
