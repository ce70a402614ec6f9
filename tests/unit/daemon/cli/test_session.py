"""What commands log, and what they say of an argument that is empty."""

import pytest

from daemon.cli import session
from daemon.settings import LogSettings, Settings
from domain.errors import BadInput


@pytest.mark.parametrize(
    ("command", "given", "level"),
    [
        ("import", LogSettings(), "WARNING"), ("run", LogSettings(), "INFO"), ("worker", LogSettings(), "INFO"),
        ("import", LogSettings(level="INFO"), "INFO"), ("run", LogSettings(level="ERROR"), "ERROR"),
    ],
)  # fmt: skip
def test_only_the_service_logs_what_happens_unless_told_otherwise(
    command: str, given: LogSettings, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[LogSettings] = []
    monkeypatch.setattr(session, "load_settings", lambda: Settings(log=given))
    monkeypatch.setattr(session, "set_up_logging", seen.append)
    session.begin(command)
    session.settings()
    assert [log.level for log in seen] == [level]


def test_what_is_empty_is_named() -> None:
    with pytest.raises(BadInput, match="empty claim"):
        session.claim_text(" ")
    with pytest.raises(BadInput, match="empty word"):
        session.claim_text("", "word")
