"""Posts from a file: JSONL or CSV, gzipped or not. A record that cannot be read becomes a notice; the rest goes on.

Fields: id (unique in the file), text and created_at (ISO 8601; without a zone it is UTC); also platform, url, author,
lang or language, links (a list, or text with white space between), likes, reposts, replies, views. Others are not
looked at.
"""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count as numbers
from pathlib import Path
from typing import Any

from connectors.records import count, moment, pseudonym
from domain.errors import BadInput
from domain.post import Post, Reach
from domain.text import normalise
from domain.urls import links_in

LONGEST_LINE = 10_000_000  # bytes
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}

_Record = dict[str, Any] | str  # what is wrong, in words, where it cannot be read


@dataclass(frozen=True, slots=True)
class PostsFile:
    """Readable posts in order of creation, and a notice for each record that was changed or left out."""

    posts: tuple[Post, ...]
    notices: tuple[str, ...]


def read_posts(path: Path, *, salt: str, undated: datetime | None = None) -> PostsFile:
    """All posts of a file. `salt` keys the authors' pseudonyms; `undated` is given to posts without created_at.

    Raises BadInput, in one line, for a file that cannot be used at all.
    """
    posts: dict[str, Post] = {}
    notices: list[str] = []
    for row, record in _records(path):
        try:
            post = _post(record, salt, undated)
        except (ValueError, OverflowError) as exc:
            notices.append(f"{path.name} row {row}: left out, {exc}")
            continue
        if _has_nul(record):
            notices.append(f"{path.name} row {row}: NUL characters taken out")
        if post.platform_id in posts:
            notices.append(f"{path.name} row {row}: replaces an earlier post of the same id")
        posts[post.platform_id] = post
    if not posts:
        raise BadInput(f"{path}: holds no usable post ({notices[0] if notices else 'it is empty'})")
    ordered = sorted(posts.values(), key=lambda post: (post.created_at, post.platform_id))
    return PostsFile(tuple(ordered), tuple(notices))


def _records(path: Path) -> Iterator[tuple[int, _Record]]:
    kind = _SUFFIXES.get(Path(path.name.lower().removesuffix(".gz")).suffix)
    if kind is None:
        raise BadInput(f"{path}: posts are read from .jsonl or .csv, gzipped or not")
    try:
        yield from _jsonl(path) if kind == "jsonl" else _csv(path)
    except (OSError, EOFError, zlib.error) as exc:
        raise BadInput(f"{path}: cannot be read ({getattr(exc, 'strerror', None) or exc})") from exc


def _lines(path: Path) -> Iterator[str]:
    with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as file:
        for row in numbers(1):
            line = file.readline(LONGEST_LINE)
            if not line:
                return
            if len(line) == LONGEST_LINE:
                raise BadInput(f"{path}: row {row} is longer than {LONGEST_LINE // 10**6} MB: a post is a line")
            try:
                yield line.decode("utf-8-sig" if row == 1 else "utf-8")
            except UnicodeDecodeError as exc:
                raise BadInput(f"{path}: row {row} is not UTF-8: save the file as UTF-8") from exc


def _jsonl(path: Path) -> Iterator[tuple[int, _Record]]:
    for row, line in enumerate(_lines(path), 1):
        if line.strip():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            yield row, record if isinstance(record, dict) else "it is no JSON object"


def _csv(path: Path) -> Iterator[tuple[int, _Record]]:
    rows = csv.DictReader(_lines(path), strict=True)
    try:
        columns = rows.fieldnames or ()
    except csv.Error as exc:
        raise BadInput(f"{path}: the first line does not name the columns ({exc})") from exc
    if missing := {"id", "text"} - set(columns):
        raise BadInput(f"{path}: there is no column {sorted(missing)[0]!r}: the first line must name the columns")
    while True:
        try:
            record = next(rows)
        except StopIteration:
            return
        except csv.Error as exc:
            yield rows.reader.line_num, str(exc)
        else:
            yield rows.line_num, "it has more fields than the first line" if None in record else record


def _post(record: _Record, salt: str, undated: datetime | None) -> Post:
    """Raises ValueError, or OverflowError, that says in words what is wrong."""
    if not isinstance(record, dict):
        raise ValueError(record)
    text = normalise(_text(record, "text"))
    platform_id = normalise(_text(record, "id"))
    if not platform_id:
        raise ValueError("its id is empty")
    return Post(
        platform=normalise(_optional(record, "platform") or "file"),
        platform_id=platform_id,
        text=text,
        created_at=_created_at(record.get("created_at"), undated),
        url=normalise(url) if (url := _optional(record, "url")) else None,
        author=pseudonym(author, salt) if (author := _optional(record, "author")) else None,
        links=tuple(dict.fromkeys((*links_in(text), *_links(record.get("links"))))),
        language=_language(record.get("lang") or record.get("language")),
        reach=Reach(*(count(record.get(name)) for name in ("likes", "reposts", "replies", "views"))),
    )


def _text(record: Mapping[str, Any], field: str) -> str:
    value = record.get(field)
    if value is None:
        raise ValueError(f"it has no {field}")
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"its {field} is no text")
    return str(value)


def _optional(record: Mapping[str, Any], field: str) -> str:
    """Empty where the record does not give it. Raises ValueError for a list or the like: it would be taken for text."""
    return _text(record, field) if record.get(field) else ""


def _created_at(value: object, undated: datetime | None) -> datetime:
    if value:
        return moment(value)
    if undated is None:
        raise ValueError("it has no created_at")
    return undated


def _language(value: object) -> str:
    """The first part of a language tag ("pt-BR"), or `und`."""
    return normalise(str(value or "")).replace("_", "-").split("-")[0].lower() or "und"


def _links(value: object) -> tuple[str, ...]:
    given = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(link for item in given if (link := normalise(str(item))))


def _has_nul(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_has_nul, value.values()))
    return any(map(_has_nul, value)) if isinstance(value, list) else isinstance(value, str) and "\0" in value
