import re
from email import message_from_bytes, policy
from email.header import decode_header, make_header

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.headers import clean_value, fold_mailbox, fold_text, visible_characters

FAMILY = "👨‍👩‍👧‍👦"
ACCENTED = (
    "Résumé of the day for the morning desk with many plain words in between until the next actualités and after that "
    "a good many further plain words to the very last: café"
).ljust(170, "!")
ENCODED_WORD = re.compile(r"=\?utf-8\?b\?[A-Za-z0-9+/=]+\?=")


def decoded(header: str) -> tuple[str, str]:
    """What two parsers read: the newer of the standard library, and the older one."""
    message = message_from_bytes(header.encode("ascii") + b"\r\n", policy=policy.default)
    unfolded = header.removesuffix("\r\n").replace("\r\n", "").partition(": ")[2]
    return str(message["subject"]), str(make_header(decode_header(unfolded)))


@pytest.mark.parametrize(
    "subject",
    [
        ACCENTED,
        "水道水が禁止された" * 13 + "東京都",
        FAMILY * 12,
        "Abo  actualités",
        "=?utf-8?q?not_encoded?=",
        "x" * 300,
        "two  spaces",
    ],
    ids=[
        "three accented words",
        "120 CJK",
        "12 families",
        "two spaces",
        "looks encoded",
        "no space",
        "plain with two spaces",
    ],
)
def test_a_subject_decodes_to_exactly_what_it_was(subject: str) -> None:
    header = fold_text("Subject", subject)
    assert decoded(header) == (subject, subject)
    assert all(len(line) <= 76 for line in header.split("\r\n"))


def test_the_cases_are_as_long_as_they_say() -> None:
    assert len(ACCENTED) == 170
    assert len("水道水が禁止された" * 13 + "東京都") == 120


def test_encoded_words_are_separated_by_white_space() -> None:
    value = fold_text("Subject", ACCENTED).removeprefix("Subject: ").removesuffix("\r\n")
    assert all(ENCODED_WORD.fullmatch(word) for word in value.split("\r\n "))


@pytest.mark.parametrize("emoji", [FAMILY, "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🇩🇪", "👩🏽‍❤️‍💋‍👨🏿", "e\u0301", "👍🏽"], ids=ascii)
def test_no_emoji_is_cut_in_two(emoji: str) -> None:
    for shift in range(8):
        words = ENCODED_WORD.findall(fold_text("Subject", "é" * shift + emoji * 12))
        for word in words:
            (content, charset), *rest = decode_header(word)
            assert not rest and charset == "utf-8" and isinstance(content, bytes)
            assert content.decode().lstrip("é").replace(emoji, "") == ""


def test_a_plain_subject_stays_readable_and_is_folded_at_spaces() -> None:
    assert fold_text("Subject", "3 claims repeated") == "Subject: 3 claims repeated\r\n"
    folded = fold_text("Subject", "word " * 40)
    assert "=?" not in folded
    assert folded.replace("\r\n", "") == "Subject: " + ("word " * 40).strip()


def test_a_value_cannot_become_a_header_of_its_own() -> None:
    for end in ("\r\n", "\n", "\r", "\x0b", "\x85", "\u2028", "\x00\n"):
        assert clean_value(f"one{end} Bcc: a@b.example") == "one Bcc: a@b.example"
        assert fold_text("Subject", f"é{end}Bcc: a@b.example").count("\r\n") == 1


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])))
def test_any_text_survives(text: str) -> None:
    header = fold_text("Subject", text)
    assert decoded(header)[1] == text.strip()
    assert all(len(line) <= 76 for line in header.split("\r\n"))


@given(st.text())
def test_any_text_makes_one_header_of_ascii_lines(text: str) -> None:
    header = fold_text("Subject", text)
    assert header.isascii()
    assert re.fullmatch(r"Subject: [ -~]*\r\n( [ -~]+\r\n)*", header)


@given(st.text())
def test_visible_characters_make_up_the_text(text: str) -> None:
    assert "".join(visible_characters(text)) == text


@pytest.mark.parametrize("name", ["Desk", 'The "Desk"', "Büro für Prüfung " * 8 + "é", "", "A, B"])
def test_a_display_name_decodes_to_exactly_what_it_was(name: str) -> None:
    header = fold_mailbox("From", name.strip(), "cw@x.example")
    value, _, spec = header.removeprefix("From: ").replace("\r\n", "").rpartition("<")
    assert spec.rstrip(">") == "cw@x.example"
    assert str(make_header(decode_header(value.strip()))).replace("\\", "") in (name.strip(), f'"{name}"')
    assert all(len(line) <= 76 for line in header.split("\r\n"))
