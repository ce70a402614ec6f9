"""Takes a file of fact-checks into the store: all of it in one transaction, or none."""

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from daemon.intake.rating import is_unread
from daemon.intake.reader import ReadOptions, read_fact_checks
from daemon.intake.record import FactCheckRecord, Rejected
from daemon.service import Service
from daemon.store import fact_checks
from daemon.store.fact_checks import Upserted

logger = logging.getLogger(__name__)

_BATCH = 1000  # records a round trip


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file gave: `faults` one line a record in quarantine, `unknown_ratings` how many records have each.

    `unusable` says why nothing of the file could be stored.
    """

    file: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    quarantined: int = 0
    faults: tuple[str, ...] = ()
    unknown_ratings: Mapping[str, int] = field(default_factory=dict)
    unusable: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.unusable or self.added or self.changed or self.unchanged or self.quarantined)

    def as_dict(self) -> dict[str, object]:
        return asdict(self)

    def as_row(self) -> tuple[object, ...]:
        if self.unusable:
            return self.file, "unusable", "", "", ""
        return self.file, self.added, self.changed, self.unchanged, self.quarantined


def import_file(service: Service, path: Path, options: ReadOptions) -> Imported:
    """Read, clean and store a file's records. Raises BadInput, nothing stored, for an unusable file."""
    counts, rejected, unknown = Upserted(0, 0, 0), [], Counter[str]()
    with service.database.connection() as conn:
        batch: list[FactCheckRecord] = []
        for item in read_fact_checks(path, options):
            if isinstance(item, Rejected):
                rejected.append(item)
                continue
            batch.append(item)
            if is_unread(item.rating_given, item.rating_value, item.verdict):
                unknown[item.rating_given or item.rating_value or ""] += 1
            if len(batch) == _BATCH:
                counts, batch = _sum(counts, fact_checks.upsert(conn, batch)), []
        counts = _sum(counts, fact_checks.upsert(conn, batch))
        fact_checks.keep_aside(conn, rejected)
    logger.info("file imported", extra={"action": "import", **asdict(counts), "quarantined": len(rejected)})
    return Imported(
        str(path), counts.added, counts.changed, counts.unchanged, len(rejected), tuple(map(_line, rejected)),
        dict(unknown.most_common()),
    )  # fmt: skip


def _sum(a: Upserted, b: Upserted) -> Upserted:
    return Upserted(a.added + b.added, a.changed + b.changed, a.unchanged + b.unchanged)


def _line(rejected: Rejected) -> str:
    field = f" {rejected.field}" if rejected.field else ""
    remedy = "kept in quarantine; correct it and import again"
    return f"{rejected.source} row {rejected.row}{field}: {rejected.reason} ({remedy})"
