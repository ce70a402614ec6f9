"""What a finished mail shows, for a terminal or a browser: the same mail that goes out, not a second rendering."""

import base64
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage


@dataclass(frozen=True, slots=True)
class OpenedMail:
    """A mail as a person reads it; lines end with a line feed, the page holds its images."""

    subject: str
    text: str
    page: str


def open_mail(message: bytes) -> OpenedMail:
    """The words and the page of a serialised digest; what it lacks is empty."""
    parsed = message_from_bytes(message, policy=policy.default)
    return OpenedMail(str(parsed["subject"] or ""), _body(parsed, "plain"), _with_images(parsed))


def _body(message: EmailMessage, kind: str) -> str:
    part = message.get_body((kind,))
    content: str = part.get_content() if part else ""
    return content.replace("\r\n", "\n")


def _with_images(message: EmailMessage) -> str:
    page = _body(message, "html")
    for part in message.walk():
        if part.get_content_maintype() == "image" and (cid := part["Content-ID"]):
            data = base64.b64encode(part.get_content()).decode("ascii")
            page = page.replace(f'src="cid:{cid.strip("<> ")}"', f'src="data:{part.get_content_type()};base64,{data}"')
    return page
