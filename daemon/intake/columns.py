"""Which column of a table, or key of a plain object, is which field."""

from collections.abc import Iterable, Mapping
from typing import Any

from daemon.intake.record import RawFactCheck, UnusableRecord
from domain.errors import BadInput
from domain.text import shorten

_FIELDS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "vclaim_id", "identifier", "guid"),
    "url": ("url", "page_url", "link", "permalink", "article_url", "factcheck_url", "fact_check_url", "review_url"),
    "claim": ("claim", "vclaim", "claimreviewed", "claim_reviewed", "statement"),
    "title": ("title", "headline", "name"),
    "subtitle": ("subtitle", "summary", "description", "excerpt", "deck"),
    "body": ("body", "text", "content", "article", "articlebody", "article_text"),
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


def plain_name(column: str) -> str:
    """A column's name as it is looked up: case, and what stands between its words, are no matter."""
    return column.strip().lower().replace(" ", "_").replace("-", "_")


def match_columns(found: Iterable[str], *, chosen: Mapping[str, str], ignored: frozenset[str], file: str) -> Columns:
    """The field of each column. Raises BadInput naming the unknown columns, or an unknown field that was chosen."""
    if wrong := sorted(set(chosen.values()) - set(_FIELDS)):
        raise BadInput(f"--map …={wrong[0]}: there is no such field: choose from {', '.join(_FIELDS)}")
    columns = {column: _field(column, chosen, ignored) for column in found}
    if unknown := [column for column, field in columns.items() if field is None]:
        raise BadInput(
            f"{file}: unknown column{'s' * (len(unknown) > 1)} {', '.join(map(repr, unknown[:10]))}: name the field "
            f"with --map {unknown[0]!r}=FIELD ({', '.join(_FIELDS)}), or leave it out with --ignore {unknown[0]!r}"
        )
    return {column: field or "" for column, field in columns.items()}


def _field(column: str, chosen: Mapping[str, str], ignored: frozenset[str]) -> str | None:
    """The field of a column; "" for one that is left out, as one without a name is; None for an unknown one."""
    name = plain_name(column)
    if column in chosen:
        return chosen[column]
    if column in ignored or name in _UNUSED or not name:
        return ""
    return _BY_NAME.get(name)


def raw_from_row(row: Mapping[str, Any], columns: Columns) -> RawFactCheck:
    """A row's cells as fields; a subtitle opens the body. Of two columns for one field the first filled one counts.

    Raises UnusableRecord for a claim that is no text, as JSON may have it.
    """
    fields: dict[str, str] = {}
    for column, value in row.items():
        field = columns.get(column, "")
        if field and not fields.get(field, "").strip():
            fields[field] = _claim(value) if field == "claim" else _as_text(value)
    subtitle, aliases = fields.pop("subtitle", ""), fields.pop("aliases", "")
    body = "\n\n".join(part for part in (subtitle, fields.pop("body", "")) if part.strip())
    return RawFactCheck(**fields, body=body, aliases=tuple(aliases.split()))


def unknown_mapping(columns: Iterable[str], *, file: str) -> BadInput:
    """What to say of columns that --map names and the file does not have."""
    missing = ", ".join(map(repr, sorted(columns)))
    return BadInput(f"{file} has no column {missing}, which --map names: write it as the file does")


def _claim(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise UnusableRecord("claim", f"it is no text but {shorten(str(value), 60)}")
    return value or ""


def _as_text(value: Any) -> str:
    """A value that may be no text, as one: a list's parts, a thing's name."""
    if isinstance(value, list):
        return " ".join(_as_text(part) for part in value if not isinstance(part, list))
    if isinstance(value, dict):
        named = value.get("name") or value.get("url")
        return named if isinstance(named, str) else ""
    return "" if value is None else str(value)
