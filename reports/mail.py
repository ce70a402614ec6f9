"""A rendered digest as a mail: text and HTML with inline images, headers that cannot be broken out of.

A mail is frozen once per digest, without a recipient; `address` completes it for one recipient, who never sees another.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import format_datetime
from typing import Any, cast

from domain.errors import BadInput
from reports.digest import RenderedDigest
from reports.headers import clean_value, fold_mailbox, fold_text

_LOCAL = re.compile(r"(?=.{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*@", re.ASCII)  # RFC 5322 dot-atom
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN = re.compile(rf"(?=.{{1,253}}$)({_LABEL}(\.{_LABEL})+|localhost)", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of the mail; `subtype` of `text/…`."""

    filename: str
    content: bytes
    subtype: str = "csv"


class _DigestPolicy(EmailPolicy):
    """CRLF lines of 7-bit characters, with the headers that hold words of people folded by our own code."""

    def fold(self, name: str, value: Any) -> str:
        if name == "Subject":
            return fold_text(name, str(value))
        if name == "From":
            mailbox = value.addresses[0]
            return fold_mailbox(name, mailbox.display_name, mailbox.addr_spec)
        folded: str = super().fold(name, value)
        return folded

    def fold_binary(self, name: str, value: Any) -> bytes:
        return self.fold(name, value).encode("ascii")


_POLICY = _DigestPolicy(linesep="\r\n", cte_type="7bit", raise_on_defect=False)


def build_message(
    rendered: RenderedDigest,
    *,
    sender: str,
    date: datetime,
    attachments: Sequence[Attachment] = (),
) -> EmailMessage:
    """The mail of a digest without recipient and Message-ID, which `address` gives to each copy.

    `sender` is an address or `Name <address>`. Raises BadInput where it is not.
    """
    message = EmailMessage(policy=_POLICY)
    message["From"] = sender_mailbox(sender)
    message["Subject"] = clean_value(rendered.subject)
    message["Date"] = format_datetime(date)
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office answer
    _add_bodies(message, rendered)
    for attachment in attachments:
        message.add_attachment(
            attachment.content, maintype="text", subtype=attachment.subtype, filename=clean_value(attachment.filename),
            params={"charset": "utf-8"},
        )  # fmt: skip
    _set_boundaries(message, rendered.text + rendered.html)
    return message


def serialise(message: EmailMessage) -> bytes:
    """The mail as it is stored and sent: ASCII, CRLF, the same bytes for the same digest."""
    return message.as_bytes(policy=_POLICY)


def address(message: bytes, recipient: str, message_id: str) -> bytes:
    """A serialised mail completed for one recipient. Raises BadInput for what is not a mail address or Message-ID."""
    to = mail_address(recipient, "the recipient")
    if not re.fullmatch(r"<[!-;=?A-~]+@[!-;=?A-~]+>", message_id):
        raise BadInput(f"{message_id!r} is no Message-ID: it is written <left@right>, without spaces")
    return f"To: {to}\r\nMessage-ID: {message_id}\r\n".encode("ascii") + message


def _add_bodies(message: EmailMessage, rendered: RenderedDigest) -> None:
    message.set_content(rendered.text, cte="quoted-printable")
    message.add_alternative(rendered.html, subtype="html", cte="quoted-printable")
    html = cast(EmailMessage, message.get_body(("html",)))  # added in the line before
    for number, image in enumerate(rendered.images, start=1):
        name = f"posts-a-day-{number}.png"
        html.add_related(image.png, "image", "png", cid=f"<{image.cid}>", disposition="inline", filename=name)


def _set_boundaries(message: EmailMessage, content: str) -> None:
    """Boundaries that follow from the content; `=_` cannot stand in a quoted-printable or base64 line."""
    digest = base64.b32encode(hashlib.sha256(content.encode()).digest()).decode("ascii")[:24].lower()
    for number, part in enumerate(part for part in message.walk() if part.is_multipart()):
        part.set_boundary(f"=_{digest}_{number}")


def sender_mailbox(text: str) -> Address:
    """The mailbox of an address or `Name <address>`. Raises BadInput for what is neither."""
    named = re.fullmatch(r"\s*\"?(?P<name>[^\"<>]*?)\"?\s*<(?P<address>[^<>]+)>\s*", text)
    if not named:
        return _mailbox("", mail_address(text, "the sender"))
    return _mailbox(clean_value(named["name"]), mail_address(named["address"], "the sender"))


def mail_address(text: str, whose: str) -> str:
    """The address as it stands in a mail: a domain beyond ASCII as xn--….

    Raises BadInput, naming whose it should have been, for what is not one address alone.
    """
    local, _, given = text.strip().rpartition("@")
    domain = _ascii_domain(given)
    address = f"{local}@{domain}"
    if not _LOCAL.fullmatch(f"{local}@") or not _DOMAIN.fullmatch(domain) or not _is_itself(address):
        raise BadInput(
            f"{text!r} is not the mail address of {whose}: write name@host.example, the name in ASCII"
            " and an unusual domain as xn--…"
        )
    return address


def _ascii_domain(domain: str) -> str:
    """The domain by IDNA, empty where that would make another domain of it (`straße` and `strasse` are two)."""
    if domain.isascii():
        return domain
    try:
        encoded = domain.encode("idna")
        return encoded.decode("ascii") if encoded.decode("idna").lower() == domain.lower() else ""
    except UnicodeError:
        return ""


def _is_itself(address: str) -> bool:
    """Whether mail programs read it as it is written: `=?utf-8?q?a?=@x.example` they take for an encoded `a`."""
    try:
        return _mailbox("", address).addr_spec == address
    except BadInput:
        return False


def _mailbox(name: str, address: str) -> Address:
    try:
        return Address(name, addr_spec=address)
    except (HeaderParseError, ValueError) as exc:
        raise BadInput(f"{address!r} is no mail address: {exc}") from exc
