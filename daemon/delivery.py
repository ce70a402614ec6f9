"""Where a mail goes: a folder of .eml files, or an SMTP server. Each says one of four things about a mail.

sent        it is there
uncertain   the server took the data and did not answer: no one can know (never resent by itself)
failed      refused for good
later       refused for now, or the server could not be reached before the data
"""

import hashlib
import os
import re
import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol
from urllib.parse import SplitResult, unquote, urlsplit

from domain.errors import BadSetting

Tls = Literal["none", "starttls", "implicit"]
Fate = Literal["sent", "uncertain", "failed", "later"]


_TLS: dict[str, tuple[Tls, int]] = {  # scheme: encryption, usual port
    "smtp": ("none", 25),
    "smtp+starttls": ("starttls", 587),
    "smtps": ("implicit", 465),
}
_FORMS = "smtp://host:25, smtp+starttls://user:password@host:587 or smtps://user:password@host:465"
_LABEL_BYTES = 200  # of the 255 that a file name may have


@dataclass(frozen=True, slots=True)
class Delivery:
    fate: Fate
    detail: str


@dataclass(frozen=True, slots=True)
class Letter:
    """A finished mail, CRLF lines, and where it goes; `label` is what people tell its file in a folder by."""

    sender: str
    recipient: str
    message: bytes
    label: str
    message_id: str
    due_at: datetime


class Postman(Protocol):
    """`repeatable`: sending the same mail again cannot make a second copy."""

    @property
    def repeatable(self) -> bool: ...

    def deliver(self, letter: Letter) -> Delivery: ...


@dataclass(frozen=True, slots=True)
class FolderPostman:
    """Writes `<day>-<time>-<label>-<hash>.eml`, whole or not at all; the same mail again overwrites its own file."""

    folder: Path
    repeatable: bool = True

    def deliver(self, letter: Letter) -> Delivery:
        name = _file_name(letter)
        partial = self.folder / f".{name}.part"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(letter.message)
            os.replace(partial, self.folder / name)
        except OSError as exc:
            return Delivery("later", f"cannot write {self.folder / name} ({exc.strerror})")
        return Delivery("sent", str(self.folder / name))


@dataclass(frozen=True, slots=True)
class SmtpPostman:
    """Speaks to the server of an SMTP_URL, one recipient a transaction, so that one refusal holds up nobody else."""

    host: str
    port: int
    user: str | None
    password: str | None = field(repr=False)
    tls: Tls
    timeout_s: float
    repeatable: bool = False

    def deliver(self, letter: Letter) -> Delivery:
        try:
            with self._session() as server:
                return self._send(server, letter)
        except smtplib.SMTPAuthenticationError as exc:
            return Delivery("later", f"{self.host}: log-in refused ({exc.smtp_code}): check SMTP_URL")
        except (OSError, smtplib.SMTPException) as exc:
            return Delivery("later", f"{self.host}: {_words(exc)}")

    def greet(self) -> int:
        """Log in and say hello; the server's answer code. Raises OSError or SMTPException."""
        with self._session() as server:
            return server.ehlo()[0]

    def _send(self, server: smtplib.SMTP, letter: Letter) -> Delivery:
        server.ehlo_or_helo_if_needed()
        for code, answer in _answers(server, letter):
            if code >= 400:
                return self._refusal(code, answer)
        try:
            code, answer = server.data(letter.message)
        except smtplib.SMTPDataError as exc:  # DATA itself was refused: nothing was sent
            return self._refusal(exc.smtp_code, exc.smtp_error)
        except (OSError, smtplib.SMTPException) as exc:
            return Delivery("uncertain", f"{self.host} took the mail and did not answer ({_words(exc)})")
        if code >= 400:
            return self._refusal(code, answer)
        return Delivery("sent", f"{self.host}: {code} {_text(answer)}")

    def _refusal(self, code: int, answer: bytes | str) -> Delivery:
        """For good (5yz) or for now (4yz), RFC 5321 section 4.2.1."""
        return Delivery("failed" if code >= 500 else "later", f"{self.host}: {code} {_text(answer)}")

    @contextmanager
    def _session(self) -> Iterator[smtplib.SMTP]:
        context = ssl.create_default_context()
        if self.tls == "implicit":
            server: smtplib.SMTP = smtplib.SMTP_SSL(self.host, self.port, timeout=self.timeout_s, context=context)
        else:
            server = smtplib.SMTP(self.host, self.port, timeout=self.timeout_s)
        try:
            if self.tls == "starttls":
                server.starttls(context=context)
            if self.user:
                server.login(self.user, self.password or "")
            yield server
        finally:
            server.close()


def _file_name(letter: Letter) -> str:
    """Its own for each mail, since two labels may come out alike; short enough in bytes for any file system."""
    label = re.sub(r"[^\w.@-]+", "-", f"{letter.due_at:%Y-%m-%d-%H%M}-{letter.label}")
    short = label.encode("utf-8", "replace")[:_LABEL_BYTES].decode("utf-8", "ignore")
    return f"{short}-{hashlib.sha256(letter.message_id.encode()).hexdigest()[:8]}.eml"


def _answers(server: smtplib.SMTP, letter: Letter) -> Iterator[tuple[int, bytes]]:
    yield server.mail(letter.sender)
    yield server.rcpt(letter.recipient)


def postman(smtp_url: str | None, outbox: Path, *, timeout_s: float) -> Postman:
    """SMTP where an address is given, else the outbox folder. Raises BadSetting for an address that cannot be used."""
    if smtp_url is None:
        return FolderPostman(outbox)
    try:
        return _smtp_postman(smtp_url, timeout_s)
    except ValueError as exc:
        raise BadSetting(f"SMTP_URL cannot be used ({exc}): give {_FORMS}") from exc


def _smtp_postman(url: str, timeout_s: float) -> SmtpPostman:
    """Raises ValueError, without any part of the address, which holds a password."""
    parts = _split(url)
    if parts.scheme not in _TLS or not parts.hostname:
        raise ValueError("no scheme and host of a mail server")
    user = _ascii("user", unquote(parts.username)) if parts.username else None
    password = _ascii("password", unquote(parts.password)) if parts.password else None
    tls, port = _TLS[parts.scheme]
    return SmtpPostman(parts.hostname, parts.port or port, user, password, tls, timeout_s)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port, (parts.hostname or "").encode("idna")  # both are only looked at when they are asked for
    except ValueError:
        raise ValueError("its host or port is none") from None  # the library's words may hold the password
    return parts


def _ascii(what: str, text: str) -> str:
    """smtplib logs in with ASCII alone."""
    if not text.isascii():
        raise ValueError(f"its {what} is not ASCII")
    return text


def _text(answer: bytes | str) -> str:
    words = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return " ".join(words.split())[:300]


def _words(exc: BaseException) -> str:
    return _text(str(exc)) or type(exc).__name__
