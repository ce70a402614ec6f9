"""A finished mail is shown as a mail program shows it."""

from datetime import UTC, datetime

from reports.digest import render_digest
from reports.mail import build_message, serialise
from reports.reading import open_mail
from reports.view import DigestView


def test_a_mail_opens_as_its_words_and_a_page_that_holds_its_images(view: DigestView) -> None:
    rendered = render_digest(view)
    date = datetime(2026, 11, 27, 7, tzinfo=UTC)
    opened = open_mail(serialise(build_message(rendered, sender="cw@x.example", date=date)))
    assert (opened.subject, opened.text) == (rendered.subject, rendered.text)
    assert "cid:" not in opened.page
    assert opened.page.count('src="data:image/png;base64,') == 2
    assert opened.page.index("charset") < 1024  # bytes in which a browser looks for it


def test_a_mail_without_parts_opens_as_empty() -> None:
    opened = open_mail(b"Content-Type: image/png\r\n\r\n")
    assert (opened.subject, opened.text, opened.page) == ("", "", "")
