"""What all formats share: how they are read, and how what was read becomes a record or a rejected one."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha1
from pathlib import Path
from typing import Any

from daemon.intake.claim_review import Review, claim_reviews, raw_from_claim_review
from daemon.intake.cleaning import clean
from daemon.intake.columns import Columns, match_columns, raw_from_row, unknown_mapping
from daemon.intake.record import RECORD_LIMIT, FactCheckRecord, RawFactCheck, Rejected, UnusableRecord
from domain.clock import system_clock
from domain.errors import BadInput
from domain.text import one_line, shorten

Item = FactCheckRecord | Rejected


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a file is read. `columns` names a column's field; `default_rating` and `publisher` stand in where a record
    gives none; `format` is one of `formats.FORMATS`, found out if it is None."""

    format: str | None = None
    encoding: str = "utf-8-sig"
    columns: Mapping[str, str] = field(default_factory=dict)
    ignore: frozenset[str] = frozenset()
    default_rating: str = ""
    publisher: str = ""
    clock: Callable[[], datetime] = system_clock


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is being read."""

    path: Path
    options: ReadOptions

    @property
    def name(self) -> str:
        """The space that the file's ids live in: its name without endings."""
        return one_line(Path(self.path.name.removesuffix(".gz")).stem)

    def cleaned(self, raw: RawFactCheck, row: int, original: object) -> Item:
        """The record that a row stands for, or why it stands for none."""
        raw = replace(
            raw,
            rating=raw.rating or ("" if raw.rating_value else self.options.default_rating),
            publisher=raw.publisher or self.options.publisher,
        )
        try:
            return clean(raw, source=self.name, clock=self.options.clock)
        except UnusableRecord as exc:
            return self.rejected(row, exc.reason, original, field=exc.field)

    def rejected(self, row: int, reason: str, original: object, *, field: str = "") -> Rejected:
        """What goes to quarantine: the record as it came, or as JSON again, cut, without what a database refuses."""
        text = original if isinstance(original, str) else _as_json(original)
        text = text.replace("\0", "").encode(errors="ignore").decode()[:RECORD_LIMIT]
        return Rejected(one_line(self.path.name), row, shorten(field, 100), shorten(reason, 300), text)

    def reviews(
        self, part: Any, row: int, fill: Callable[[Review], RawFactCheck] = raw_from_claim_review
    ) -> Iterator[Item]:
        """The ClaimReviews of one article, `fill` reading each.

        An article that checks several claims says so at one address: the first is known by it, each further claim by
        the address and a digest of the claim.
        """
        seen: dict[str, set[str]] = {}
        for review in claim_reviews(part):
            item = self.cleaned(fill(review), row, review)
            if isinstance(item, FactCheckRecord):
                claim = " ".join(re.findall(r"\w+", item.claim.casefold()))
                others = seen.setdefault(item.key, set())
                if others and claim not in others:
                    item = replace(item, key=f"{item.key}#{sha1(claim.encode()).hexdigest()[:10]}")
                others.add(claim)
            yield item

    def columns(self, found: Iterable[str]) -> Columns:
        """The field of each column, or key. Raises BadInput for an unknown one."""
        chosen, ignored = self.options.columns, self.options.ignore
        return match_columns(found, chosen=chosen, ignored=ignored, file=str(self.path))


class Objects:
    """Plain objects of one file: the first one's keys must be known, a later one's may spoil only that object."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._columns: Columns | None = None
        self._unmet = set(source.options.columns)

    def finish(self) -> None:
        """To be called after the last one. Raises BadInput if no object had a key that was mapped."""
        if self._columns is not None and self._unmet:
            raise unknown_mapping(self._unmet, file=str(self._source.path))

    def item(self, record: Mapping[str, Any], row: int) -> Item:
        self._unmet.difference_update(record)
        if self._columns is None:
            self._columns = self._source.columns(record)
        columns = self._columns
        if extra := [key for key in record if key not in columns]:
            try:
                columns = self._columns = {**columns, **self._source.columns(extra)}
            except BadInput:
                reason = "it is an unknown field: map it or ignore it"
                return self._source.rejected(row, reason, record, field=extra[0])
        try:
            raw = raw_from_row(record, columns)
        except UnusableRecord as exc:
            return self._source.rejected(row, exc.reason, record, field=exc.field)
        return self._source.cleaned(raw, row, record)


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "(nested too deep to be shown)"
