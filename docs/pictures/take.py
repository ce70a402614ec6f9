"""Takes the pictures of the demo's digest for the README: `make pictures` (needs Chromium)."""

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from daemon.demo.day import open_demo, run_day
from daemon.settings import load_settings
from reports.reading import open_mail

HERE = Path(__file__).parent
WIDTHS = {"digest-wide.png": 760, "digest-phone.png": 380}
CHROMIUM = "/usr/bin/chromium"
QUIET = ("--no-sandbox --disable-gpu --disable-sync --disable-background-networking --disable-component-update").split()
HEIGHT = 1400  # of a picture: the top of the mail


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="cw-") as home:
        Path(home).chmod(0o755)
        with open_demo(load_settings(home=Path(home))) as (service, clock):
            page = open_mail(run_day(service, clock).mail.read_bytes()).page
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        for name, width in WIDTHS.items():
            view = browser.new_page(viewport={"width": width, "height": HEIGHT}, device_scale_factor=1.5)
            view.set_content(page)
            view.screenshot(path=str(HERE / name))
        browser.close()


if __name__ == "__main__":
    main()
