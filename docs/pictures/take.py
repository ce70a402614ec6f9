"""Takes the pictures of the demo's digest for the README: `make pictures` (needs Chromium)."""

import base64
import tempfile
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from playwright.sync_api import sync_playwright

from daemon.demo.day import open_demo, run_day
from daemon.settings import load_settings

HERE = Path(__file__).parent
WIDTHS = {"digest-wide.png": 760, "digest-phone.png": 380}
CHROMIUM = "/usr/bin/chromium"
QUIET = ("--no-sandbox --disable-gpu --disable-sync --disable-background-networking --disable-component-update").split()
HEIGHT = 1400  # of a picture: the top of the mail


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="cw-") as home:
        Path(home).chmod(0o755)
        with open_demo(load_settings(home=Path(home))) as (service, clock):
            mail = run_day(service, clock).mail
            page = as_page(mail.read_bytes())
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        for name, width in WIDTHS.items():
            view = browser.new_page(viewport={"width": width, "height": HEIGHT}, device_scale_factor=1.5)
            view.set_content(page)
            view.screenshot(path=str(HERE / name))
        browser.close()


def as_page(message: bytes) -> str:
    """The HTML part with its images put in, as a mail program shows it."""
    parsed = message_from_bytes(message, policy=policy.default)
    assert isinstance(parsed, EmailMessage)
    body = parsed.get_body(("html",))
    assert body is not None
    html: str = body.get_content()
    for part in parsed.walk():
        if part.get_content_maintype() == "image" and (cid := part["Content-ID"]):
            data = base64.b64encode(part.get_payload(decode=True)).decode()  # type: ignore[arg-type]
            html = html.replace(f"cid:{cid.strip('<>')}", f"data:{part.get_content_type()};base64,{data}")
    return html


if __name__ == "__main__":
    main()
