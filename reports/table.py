"""The matches of a digest as a table to open in a spreadsheet or to read by machine.

UTF-8 with a byte order mark, since spreadsheets take a file without one for their local code page; CRLF lines; texts in
quotes, numbers without. A text that a spreadsheet would take for a formula gets an apostrophe in front, which
`original_text` takes off again.
"""

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from domain.match import Stance
from domain.post import Reach

COLUMNS = (
    "claim", "fact_check_url", "post_url", "platform", "platform_id", "created_at", "stance", "confidence",
    "sentence", "query", "likes", "reposts", "replies", "views",
)  # fmt: skip

# What starts a formula in Excel, LibreOffice or Google Sheets: the signs, their full-width forms, tab and carriage
# return, also behind white space. Apostrophes in front count, so that taking one off always gives the text back.
_CALCULATES = re.compile(r"'*(?:[\t\r\n]|[\s\x00-\x1f\ufeff\u200b]*[=+\-@＝＋－＠])")


@dataclass(frozen=True, slots=True)
class MatchRow:
    """One match."""

    claim: str
    fact_check_url: str | None
    post_url: str | None
    platform: str
    platform_id: str
    created_at: datetime
    stance: Stance
    confidence: float
    sentence: str
    query: str
    reach: Reach


def write_table(rows: Iterable[MatchRow]) -> bytes:
    """The rows under a header of COLUMNS; times in UTC (ISO 8601), confidence 0 to 1, unknown cells empty."""
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(COLUMNS)
    writer.writerows(_cells(row) for row in rows)
    return sheet.getvalue().encode("utf-8-sig")


def safe_text(text: str) -> str:
    """The text as a cell that no spreadsheet calculates."""
    return "'" + text if _CALCULATES.match(text) else text


def original_text(cell: str) -> str:
    """The text that `safe_text` made the cell of."""
    return cell[1:] if cell.startswith("'") and _CALCULATES.match(cell) else cell


def _cells(row: MatchRow) -> list[str | int | float]:
    texts = (row.claim, row.fact_check_url or "", row.post_url or "", row.platform, row.platform_id)
    middle = (f"{row.created_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}", row.stance.value)
    counts = (row.reach.likes, row.reach.reposts, row.reach.replies, row.reach.views)
    return [
        *map(safe_text, texts), *middle, round(row.confidence, 4), safe_text(row.sentence), safe_text(row.query),
        *("" if number is None else number for number in counts),
    ]  # fmt: skip
