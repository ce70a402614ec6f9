"""Which column of a table, or key of a plain object, is which field."""

from collections.abc import Iterable, Mapping
from typing import Any

from daemon.intake.record import RawFactCheck
from domain.errors import BadInput

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "vclaim_id", "identifier", "guid"),
    "url": ("url", "page_url", "link", "permalink", "article_url", "factcheck_url", "fact_check_url"),
    "claim": ("claim", "vclaim", "claimreviewed", "claim_reviewed", "statement"),
    "title": ("title", "headline", "name"),
    "subtitle": ("subtitle", "summary", "description", "excerpt", "deck"),
    "body": ("body", "text", "content", "article", "articlebody"),
    "publisher": ("publisher", "source", "site", "organisation", "organization"),
    "author": ("author", "byline"),
    "language": ("language", "lang", "inlanguage"),
    "rating": ("rating", "verdict", "truth_label", "label", "alternatename", "rating_given", "textualrating"),
    "rating_value": ("rating_value", "ratingvalue"),
    "rating_best": ("rating_best", "bestrating"),
    "rating_worst": ("rating_worst", "worstrating"),
    "published_at": ("published_at", "date", "datepublished", "date_published", "published", "pubdate"),
    "aliases": ("aliases",),
}
# Known to stand in such tables, and of no use to us: who said it, what it was tagged with, when it was last touched.
_UNUSED = frozenset({"speaker", "claimant", "tags", "keywords", "image", "updated_at", "datemodified", "claim_date"})
_BY_NAME = {name: field for field, names in _FIELDS.items() for name in names}

Columns = Mapping[str, str]  # column → field; "" for one that is left out


def match_columns(found: Iterable[str], *, chosen: Mapping[str, str], ignored: frozenset[str], file: str) -> Columns:
    """The field of each column. Raises BadInput naming an unknown column, or an unknown field that was chosen."""
    if wrong := sorted(set(chosen.values()) - set(_FIELDS)):
        raise BadInput(f"--map …={wrong[0]}: there is no such field: choose from {', '.join(_FIELDS)}")
    columns = {column: _field(column, chosen, ignored) for column in found}
    if unknown := sorted(column for column, field in columns.items() if field is None):
        raise BadInput(
            f"{file}: unknown column {unknown[0]!r}: name its field with --map {unknown[0]}=FIELD "
            f"({', '.join(_FIELDS)}), or leave it out with --ignore {unknown[0]}"
        )
    return {column: field or "" for column, field in columns.items()}


def _field(column: str, chosen: Mapping[str, str], ignored: frozenset[str]) -> str | None:
    name = column.strip().lower().replace(" ", "_").replace("-", "_")
    if column in chosen:
        return chosen[column]
    if column in ignored or name in _UNUSED:
        return ""
    return _BY_NAME.get(name)


def raw_from_row(row: Mapping[str, Any], columns: Columns) -> RawFactCheck:
    """A row's cells as fields; a subtitle opens the body. Cells that are no text are written as such."""
    fields: dict[str, str] = {}
    for column, value in row.items():
        field = columns.get(column, "")
        if field and (text := _as_text(value)) and not fields.get(field):
            fields[field] = text
    subtitle, aliases = fields.pop("subtitle", ""), fields.pop("aliases", "")
    body = "\n\n".join(part for part in (subtitle, fields.pop("body", "")) if part)
    return RawFactCheck(**fields, body=body, aliases=tuple(aliases.split()))


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(_as_text(part) for part in value)
    if isinstance(value, dict):
        return _as_text(value.get("name") or value.get("url") or "")
    return "" if value is None else str(value)
