"""Files of fact-checks, written for one test and read in one go."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from daemon.intake.reader import ReadOptions, read_fact_checks
from daemon.intake.record import FactCheckRecord, Rejected

NOW = datetime(2026, 11, 28, 8, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Taken:
    """What reading a file gave."""

    records: list[FactCheckRecord]
    rejected: list[Rejected]

    @property
    def claims(self) -> list[str]:
        return [record.claim for record in self.records]

    @property
    def faults(self) -> list[tuple[int | None, str]]:
        return [(item.row, item.field) for item in self.rejected]


Take = Callable[..., Taken]


@pytest.fixture
def take(tmp_path: Path) -> Take:
    """Writes a file of the given name and content (bytes, text, or what becomes JSON) and reads it."""

    def write_and_read(name: str, content: Any, options: ReadOptions | None = None) -> Taken:
        if not isinstance(content, (bytes, str)):
            content = json.dumps(content)
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        options = replace(options or ReadOptions(), clock=lambda: NOW)
        items = list(read_fact_checks(path, options))
        return Taken(
            [item for item in items if isinstance(item, FactCheckRecord)],
            [item for item in items if isinstance(item, Rejected)],
        )

    return write_and_read


@pytest.fixture
def review() -> dict[str, Any]:
    """A ClaimReview as publishers write it."""
    return {
        "@context": "https://schema.org",
        "@type": "ClaimReview",
        "url": "https://fc.example/a/42",
        "datePublished": "2026-11-20",
        "claimReviewed": "The moon is hollow.",
        "headline": "No, the moon is not hollow",
        "author": {"@type": "Organization", "name": "Plain Facts Desk"},
        "inLanguage": "en-GB",
        "reviewRating": {
            "@type": "Rating", "ratingValue": 1, "bestRating": 5, "worstRating": 1, "alternateName": "False",
        },
    }  # fmt: skip
