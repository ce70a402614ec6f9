"""Posts a day as a small PNG: bars on a transparent ground, in colours that stand out on white and on near black.

Written directly (PNG specification, third edition: signature, IHDR, PLTE, tRNS, IDAT, IEND; palette images of 8 bits),
since bars need no curves and a charting library takes seconds to import.
"""

import hashlib
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from reports.wording import day_range

SCALE = 2  # pixels of the file for one of the page, for dense screens
_BAR, _GAP, _HEIGHT = 9, 3, 40  # page pixels

_CLEAR, _AXIS, _PAST, _NEW = range(4)
_PALETTE = bytes.fromhex("0000009aa1ab8b95a5e5532d")  # contrast of a bar at least 3:1 on #ffffff and on #16191d
_ALPHA = bytes((0, 0x80, 0xFF, 0xFF))


@dataclass(frozen=True, slots=True)
class InlineImage:
    """An image inside a mail; `cid` follows from its content, so equal images are one."""

    cid: str
    png: bytes
    alt: str
    caption: str  # shorter than alt, to be read beside the image
    width: int  # page pixels
    height: int


def draw_posts_per_day(days: Sequence[tuple[date, int]], *, new_from: date) -> InlineImage | None:
    """Bars of the posts on each day, those from `new_from` on highlighted; None where there is nothing to draw.

    A day with any post has a bar of at least 2 page pixels, so that one post beside a peak of a thousand is seen.
    """
    peak = max((posts for _, posts in days), default=0)
    if peak == 0:
        return None
    heights = [max(2, round(posts / peak * (_HEIGHT - 2))) if posts else 0 for _, posts in days]
    colours = [_NEW if when >= new_from else _PAST for when, _ in days]
    width = len(days) * (_BAR + _GAP) - _GAP
    rows = [_row(heights, colours, above=y) for y in range(_HEIGHT - 2, 0, -1)]
    rows += [bytes([_AXIS]) * (width * SCALE)]
    png = _png([row for row in rows for _ in range(SCALE)])
    cid = f"{hashlib.sha256(png).hexdigest()[:24]}@claimwatch"
    return InlineImage(cid, png, describe(days), caption(days), width, len(rows))


def describe(days: Sequence[tuple[date, int]]) -> str:
    """The same figures in words: `posts a day, 7 to 27 Nov: 0, 2, 9; peak 9`."""
    counts = [posts for _, posts in days]
    listed = ", ".join(map(str, counts))
    return f"posts a day, {day_range(days[0][0], days[-1][0])}: {listed}; peak {max(counts)}"


def caption(days: Sequence[tuple[date, int]]) -> str:
    """`Posts a day, 7 to 27 Nov; peak 9 on 24 Nov`, the latest peak if there are several."""
    when, peak = max(days, key=lambda entry: (entry[1], entry[0]))
    return f"Posts a day, {day_range(days[0][0], days[-1][0])}; peak {peak:,} on {day_range(when, when)}"


def _row(heights: Sequence[int], colours: Sequence[int], *, above: int) -> bytes:
    """One row of pixels, `above` page pixels over the axis."""
    gap = bytes([_CLEAR]) * (_GAP * SCALE)
    bars = zip(heights, colours, strict=True)
    return gap.join(bytes([colour if height >= above else _CLEAR]) * (_BAR * SCALE) for height, colour in bars)


def _png(rows: Sequence[bytes]) -> bytes:
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    parts = ((b"IHDR", header), (b"PLTE", _PALETTE), (b"tRNS", _ALPHA), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
