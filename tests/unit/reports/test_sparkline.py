import struct
import zlib
from datetime import date, timedelta

import pytest

from reports.sparkline import _NEW, _PALETTE, _PAST, SCALE, describe, draw_posts_per_day
from reports.view import fill_days

FIRST = date(2026, 11, 7)


def series(*counts: int) -> tuple[tuple[date, int], ...]:
    return tuple((FIRST + timedelta(days=n), count) for n, count in enumerate(counts))


def read_png(png: bytes) -> list[bytes]:
    """Rows of palette indices; checks signature, check sums and the order of chunks."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        name, content = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length : at + 12 + length]) == (zlib.crc32(name + content),)
        chunks[name] = content
        at += 12 + length
    assert list(chunks) == [b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"]
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    pixels = zlib.decompress(chunks[b"IDAT"])
    assert len(pixels) == height * (width + 1)
    return [pixels[row * (width + 1) + 1 : (row + 1) * (width + 1)] for row in range(height)]


def test_bars_are_as_high_as_their_share_of_the_peak() -> None:
    image = draw_posts_per_day(series(0, 4, 8), new_from=FIRST + timedelta(days=2))
    assert image is not None
    rows = read_png(image.png)
    bar = 9 * SCALE
    heights = [sum(row[day * (bar + 3 * SCALE)] in (_PAST, _NEW) for row in rows) for day in range(3)]
    assert heights == [0, 19 * SCALE, 38 * SCALE]
    assert (len(rows[0]), len(rows)) == (image.width * SCALE, image.height * SCALE)


def test_new_days_have_a_colour_of_their_own() -> None:
    image = draw_posts_per_day(series(5, 5), new_from=FIRST + timedelta(days=1))
    assert image is not None
    row = read_png(image.png)[-2 * SCALE]
    assert (row[0], row[-1]) == (_PAST, _NEW)


def test_one_post_beside_a_peak_of_a_thousand_is_seen() -> None:
    image = draw_posts_per_day(series(1, 1000), new_from=FIRST)
    assert image is not None
    assert sum(row[0] == _NEW for row in read_png(image.png)) == 2 * SCALE


def test_days_without_posts_make_no_image() -> None:
    assert draw_posts_per_day(series(0, 0), new_from=FIRST) is None
    assert draw_posts_per_day((), new_from=FIRST) is None


def test_the_same_figures_stand_in_words() -> None:
    assert describe(fill_days({FIRST: 2, date(2026, 11, 9): 9}, last=date(2026, 11, 10), days=4)) == (
        "posts a day, 7 to 10 Nov: 2, 0, 9, 0; peak 9"
    )
    assert describe(fill_days({}, last=date(2026, 11, 1), days=3)) == "posts a day, 30 Oct to 1 Nov: 0, 0, 0; peak 0"


@pytest.mark.parametrize("ground", ["ffffff", "181b20"], ids=["light", "dark"])
@pytest.mark.parametrize("colour", [_PAST, _NEW], ids=["past", "new"])
def test_bars_stand_out_from_the_page(ground: str, colour: int) -> None:
    lighter, darker = sorted(
        map(luminance, (bytes.fromhex(ground), _PALETTE[colour * 3 : colour * 3 + 3])), reverse=True
    )
    assert (lighter + 0.05) / (darker + 0.05) >= 3  # WCAG 2.2, 1.4.11


def luminance(colour: bytes) -> float:
    """Relative luminance of an sRGB colour (WCAG 2.2)."""
    red, green, blue = (c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour)
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)
