from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest

from domain.errors import BadInput
from reports.digest import RenderedDigest, render_digest
from reports.mail import Attachment, address, build_message, mail_address, sender_mailbox, serialise
from reports.view import DigestView

DATE = datetime(2026, 11, 27, 7, 0, 12, tzinfo=UTC)


@pytest.fixture
def rendered(view: DigestView) -> RenderedDigest:
    return render_digest(view)


def parse(message: bytes) -> EmailMessage:
    return message_from_bytes(message, policy=policy.default)


def body(message: EmailMessage, kind: str) -> str:
    part = message.get_body((kind,))
    assert part is not None
    content: str = part.get_content()
    return content.replace("\r\n", "\n")


def test_a_mail_has_text_html_and_images_in_the_order_that_mail_programs_want(rendered: RenderedDigest) -> None:
    table = Attachment("matches.csv", b'\xef\xbb\xbf"claim"\r\n')
    message = parse(serialise(build_message(rendered, sender="cw@x.example", date=DATE, attachments=[table])))
    assert [part.get_content_type() for part in message.walk()] == [
        "multipart/mixed", "multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png",
        "image/png", "text/csv",
    ]  # fmt: skip
    assert body(message, "plain") == rendered.text
    assert body(message, "html").strip() == rendered.html.strip()
    images = [part for part in message.walk() if part.get_content_type() == "image/png"]
    assert [part["content-id"] for part in images] == [f"<{image.cid}>" for image in rendered.images]
    assert [part.get_content() for part in images] == [image.png for image in rendered.images]
    assert [part.get_content() for part in message.iter_attachments()] == ['\ufeff"claim"\r\n']
    assert not [part.defects for part in message.walk() if part.defects]


def test_a_mail_is_ascii_with_short_crlf_lines(rendered: RenderedDigest) -> None:
    message = address(
        serialise(build_message(rendered, sender="cw@x.example", date=DATE)), "a@x.example", "<1@x.example>"
    )
    assert message.isascii()
    assert message.count(b"\n") == message.count(b"\r\n") == message.count(b"\r")
    assert max(map(len, message.split(b"\r\n"))) <= 78


def test_the_same_digest_gives_the_same_bytes(rendered: RenderedDigest) -> None:
    one, other = (serialise(build_message(rendered, sender="cw@x.example", date=DATE)) for _ in range(2))
    assert one == other


def test_headers_say_who_sent_it_and_when_and_that_a_machine_did(rendered: RenderedDigest) -> None:
    message = build_message(rendered, sender="Prüfstelle <cw@x.example>", date=DATE)
    parsed = parse(serialise(message))
    mailbox = parsed["from"].addresses[0]
    assert (mailbox.display_name, mailbox.addr_spec) == ("Prüfstelle", "cw@x.example")
    assert parsed["date"].datetime == DATE
    assert parsed["subject"] == rendered.subject
    assert parsed["auto-submitted"] == "auto-generated"


@pytest.mark.parametrize(
    "subject", ["Résumé " + "of a long day " * 11 + "actualités café", "水" * 120, "👨‍👩‍👧‍👦" * 12]
)
def test_a_long_subject_arrives_as_it_was(rendered: RenderedDigest, subject: str) -> None:
    message = build_message(RenderedDigest(subject, rendered.text, rendered.html, ()), sender="cw@x.example", date=DATE)
    assert parse(serialise(message))["subject"] == subject


def test_a_subject_cannot_add_a_header(rendered: RenderedDigest) -> None:
    hostile = RenderedDigest("new\r\nBcc: all@x.example\r\n\r\nbody", rendered.text, rendered.html, ())
    parsed = parse(serialise(build_message(hostile, sender="cw@x.example", date=DATE)))
    assert parsed["bcc"] is None
    assert parsed["subject"] == "new Bcc: all@x.example body"


def test_each_copy_names_its_own_recipient_alone(rendered: RenderedDigest) -> None:
    frozen = serialise(build_message(rendered, sender="cw@x.example", date=DATE))
    assert b"\r\nTo:" not in frozen and b"\r\nMessage-ID:" not in frozen
    one = parse(address(frozen, "a@x.example", "<1@x.example>"))
    other = address(frozen, "b@x.example", "<2@x.example>")
    assert (one.get_all("to"), one.get_all("message-id")) == (["a@x.example"], ["<1@x.example>"])
    assert b"a@x.example" not in other and b"<1@x.example>" not in other


@pytest.mark.parametrize(
    "recipient",
    [
        "",
        "nobody",
        "a@x.example, b@x.example",
        "a@x.example\r\nBcc: b@x.example",
        "a b@x.example",
        "ü@x.example",
        "<a@x.example",
    ],
)
def test_what_is_no_mail_address_is_refused(rendered: RenderedDigest, recipient: str) -> None:
    frozen = serialise(build_message(rendered, sender="cw@x.example", date=DATE))
    with pytest.raises(BadInput, match="is not the mail address of the recipient"):
        address(frozen, recipient, "<1@x.example>")


@pytest.mark.parametrize("message_id", ["", "1@x", "<1>", "<1@x>\r\nBcc: b@x.example", "<a b@x>"])
def test_what_is_no_message_id_is_refused(rendered: RenderedDigest, message_id: str) -> None:
    frozen = serialise(build_message(rendered, sender="cw@x.example", date=DATE))
    with pytest.raises(BadInput, match="is no Message-ID"):
        address(frozen, "a@x.example", message_id)


@pytest.mark.parametrize(
    "text",
    [
        "localhost", "a@@b.org", "a,b@b.org", "a;b@b.org", "a@b..org", ".@.", '"x@b.org', "a@b.org>", "<a@b.org",
        "ä@bücher.de", "a@straße.de", "=?utf-8?q?a?=@b.org", "a@-b.org", "a.@b.org", f"{'x' * 65}@b.org",
        f"a@{'b.' * 127}org", "a@[192.0.2.1]", "a@host", "\udcff@b.org",
    ],
)  # fmt: skip
def test_one_check_refuses_what_no_mail_server_takes_and_names_it(text: str) -> None:
    with pytest.raises(BadInput) as refused:
        mail_address(text, "a recipient")
    assert repr(text) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (" a+c@b.org ", "a+c@b.org"),
        ("a@bücher.de", "a@xn--bcher-kva.de"),
        ("a@xn--bcher-kva.de", "a@xn--bcher-kva.de"),
        ("root@localhost", "root@localhost"),
    ],
)
def test_an_address_comes_as_it_stands_in_a_mail(text: str, address: str) -> None:
    assert mail_address(text, "a recipient") == address


def test_a_senders_domain_is_that_of_the_address_and_not_of_the_text_around_it() -> None:
    assert sender_mailbox("Name <a@b.example>").domain == "b.example"
    assert sender_mailbox("claimwatch@localhost").domain == "localhost"


def test_a_sender_that_is_no_address_is_named(rendered: RenderedDigest) -> None:
    with pytest.raises(BadInput, match="'claimwatch' is not the mail address of the sender"):
        build_message(rendered, sender="claimwatch", date=DATE)
