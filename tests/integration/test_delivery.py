"""Mails go to a real local SMTP server, or into a folder; each ends with what is truly known of it."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from daemon.delivery import FolderPostman, Letter, SmtpPostman, postman
from domain.errors import BadSetting

MESSAGE = b"Subject: three claims\r\n\r\nhello\r\n.leading dot\r\n"


DUE = datetime(2026, 11, 28, 8, tzinfo=UTC)


def letter(recipient: str = "a@desk.example", subscription: str = "morning") -> Letter:
    label, message_id = f"{recipient}-{subscription}", f"<1.{recipient}>"
    return Letter("claimwatch@desk.example", recipient, MESSAGE, label, message_id, DUE)


class Sink:
    """Takes mails; refuses recipients as told."""

    def __init__(self, refusals: dict[str, str] | None = None) -> None:
        self.refusals = refusals or {}
        self.mails: list[tuple[str, bytes]] = []

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: list[str]) -> str:
        if answer := self.refusals.get(address):
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        self.mails.append((envelope.rcpt_tos[0], envelope.content))
        return "250 queued"


@contextmanager
def serving(sink: Sink) -> Iterator[SmtpPostman]:
    controller = Controller(sink, hostname="127.0.0.1", port=free_port())
    controller.start()
    try:
        yield SmtpPostman("127.0.0.1", controller.port, None, None, "none", 5)
    finally:
        controller.stop()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def test_a_mail_arrives_whole_at_an_smtp_server() -> None:
    sink = Sink()
    with serving(sink) as smtp:
        assert smtp.deliver(letter()).fate == "sent"
    assert sink.mails == [("a@desk.example", MESSAGE)]


def test_a_refusal_for_good_and_one_for_now_are_told_apart_and_hold_up_nobody_else() -> None:
    sink = Sink({"b@desk.example": "550 5.1.1 no such user", "c@desk.example": "451 4.3.0 later"})
    with serving(sink) as smtp:
        fates = {name: smtp.deliver(letter(f"{name}@desk.example")) for name in "abc"}
    assert [fates[name].fate for name in "abc"] == ["sent", "failed", "later"]
    assert "no such user" in fates["b"].detail


def test_a_server_that_takes_the_mail_and_falls_silent_leaves_it_uncertain() -> None:
    with silent_server() as (port, received):
        fate = SmtpPostman("127.0.0.1", port, None, None, "none", 1).deliver(letter())
    assert fate.fate == "uncertain"
    assert b"three claims" in received[0]


def test_a_server_that_is_not_there_is_tried_later() -> None:
    fate = SmtpPostman("127.0.0.1", free_port(), None, None, "none", 1).deliver(letter())
    assert fate.fate == "later"


@contextmanager
def silent_server() -> Iterator[tuple[int, list[bytes]]]:
    """Speaks SMTP up to the final dot, then says nothing more."""
    received: list[bytes] = []
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_take_and_fall_silent, args=(server, received, done))
        thread.start()
        try:
            yield server.getsockname()[1], received
        finally:
            done.set()
            thread.join()


def _take_and_fall_silent(server: socket.socket, received: list[bytes], done: threading.Event) -> None:
    conn, _ = server.accept()
    with conn, conn.makefile("rb") as lines:
        conn.sendall(b"220 here\r\n")
        for line in lines:
            if line.upper().startswith(b"DATA"):
                conn.sendall(b"354 go on\r\n")
                break
            conn.sendall(b"250 OK\r\n")
        body = b""
        while not body.endswith(b"\r\n.\r\n"):
            body += lines.readline()
        received.append(body)
        done.wait(timeout=10)


def test_the_outbox_folder_holds_each_mail_once(tmp_path: Path) -> None:
    folder = FolderPostman(tmp_path / "outbox")
    first, again = folder.deliver(letter()), folder.deliver(letter())
    assert first == again
    (file,) = (tmp_path / "outbox").iterdir()
    assert re.fullmatch(r"2026-11-28-0800-a@desk\.example-morning-[0-9a-f]{8}\.eml", file.name)
    assert Path(first.detail).read_bytes() == MESSAGE


def test_a_recipient_cannot_write_outside_the_outbox_folder(tmp_path: Path) -> None:
    delivery = FolderPostman(tmp_path / "outbox").deliver(letter("../../x@desk.example"))
    assert Path(delivery.detail).parent == tmp_path / "outbox"


def test_two_recipients_whose_names_come_out_alike_have_a_file_each(tmp_path: Path) -> None:
    folder = FolderPostman(tmp_path)
    plus, minus = folder.deliver(letter("a+b@desk.example")), folder.deliver(letter("a-b@desk.example"))
    assert plus.detail != minus.detail
    assert len(list(tmp_path.iterdir())) == 2


def test_a_long_name_in_any_script_fits_into_a_file_name(tmp_path: Path) -> None:
    delivery = FolderPostman(tmp_path).deliver(letter(subscription="水" * 200))
    assert delivery.fate == "sent", delivery.detail
    assert "a@desk.example" in Path(delivery.detail).name


def test_an_outbox_folder_that_cannot_be_made_is_tried_later(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert FolderPostman(tmp_path / "file" / "outbox").deliver(letter()).fate == "later"


@pytest.mark.parametrize(
    "url",
    ["smtp://user:hunter2@h:abc", "smtp://user:hunter2@[::1", "smtp://h:99999", "smtps://hünter2:ü@h", "smtp://a..b"],
)
def test_an_address_of_no_use_is_refused_in_one_line_without_its_password(url: str) -> None:
    with pytest.raises(BadSetting, match=r"^SMTP_URL cannot be used \(.*\): give smtp://host:25.*$") as refused:
        postman(url, Path("outbox"), timeout_s=1)
    assert "hunter2" not in str(refused.value)


def test_a_postman_shows_no_password() -> None:
    found = postman("smtps://desk:hunter2@mail.example", Path("outbox"), timeout_s=1)
    assert isinstance(found, SmtpPostman)
    assert (found.password, found.port) == ("hunter2", 465)
    assert "hunter2" not in repr(found)


@pytest.mark.parametrize("url", ["mail.example", "http://mail.example", "smtp://"])
def test_an_address_that_is_no_mail_server_is_refused_with_the_forms_that_are(url: str) -> None:
    with pytest.raises(BadSetting, match=r"smtp://host:25"):
        postman(url, Path("outbox"), timeout_s=1)
