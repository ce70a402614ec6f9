"""Posts from a file: JSONL or CSV, gzipped or not. A record that cannot be read becomes a notice; the rest goes on.

Fields: id, text and created_at (ISO 8601; without a zone it is UTC); also platform, url, author, lang or language,
links (a list, or text with white space between), likes, reposts, replies, views. Others are not looked at.
"""

import csv
import gzip
import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from domain.errors import BadInput
from domain.post import Post, Reach
from domain.text import normalise
from domain.urls import links_in

_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}


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
        except (KeyError, TypeError, ValueError) as exc:
            notices.append(f"{path.name} row {row}: left out, {_reason(exc)}")
            continue
        if any("\0" in value for value in record.values() if isinstance(value, str)):
            notices.append(f"{path.name} row {row}: NUL characters taken out")
        posts[post.platform_id] = post
    if not posts:
        raise BadInput(f"{path}: holds no usable post ({notices[0] if notices else 'it is empty'})")
    return PostsFile(
        tuple(sorted(posts.values(), key=lambda post: (post.created_at, post.platform_id))), tuple(notices)
    )


def _records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    kind = _SUFFIXES.get(Path(path.name.removesuffix(".gz")).suffix)
    if kind is None:
        raise BadInput(f"{path}: posts are read from .jsonl or .csv, gzipped or not")
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8-sig", newline="")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8-sig", newline="") as file
        ):
            yield from _jsonl(file) if kind == "jsonl" else _csv(file, path)
    except (OSError, EOFError) as exc:
        raise BadInput(f"{path}: cannot be read ({getattr(exc, 'strerror', None) or exc})") from exc
    except UnicodeDecodeError as exc:
        raise BadInput(f"{path}: is not UTF-8 (byte {exc.start}): save it as UTF-8") from exc


def _jsonl(file: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for row, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        # Without fields it will be left out, by its number.
        yield row, record if isinstance(record, dict) else {}


def _csv(file: IO[str], path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    rows = csv.DictReader(file)
    if missing := {"id", "text"} - set(rows.fieldnames or ()):
        raise BadInput(f"{path}: there is no column {sorted(missing)[0]!r}: the first line must name the columns")
    for record in rows:
        yield rows.line_num, {name: value for name, value in record.items() if name is not None}


def _post(record: Mapping[str, Any], salt: str, undated: datetime | None) -> Post:
    text = normalise(_text(record, "text"))
    created_at = _moment(record["created_at"]) if record.get("created_at") else undated
    if created_at is None:
        raise KeyError("created_at")
    return Post(
        platform=normalise(str(record.get("platform") or "file")),
        platform_id=normalise(_text(record, "id")),
        text=text,
        created_at=created_at,
        url=normalise(str(record["url"])) if record.get("url") else None,
        author=_pseudonym(str(record["author"]), salt) if record.get("author") else None,
        links=tuple(dict.fromkeys((*links_in(text), *_links(record.get("links"))))),
        language=normalise(str(record.get("lang") or record.get("language") or "und")),
        reach=Reach(*(_count(record.get(name)) for name in ("likes", "reposts", "replies", "views"))),
    )


def _text(record: Mapping[str, Any], field: str) -> str:
    value = record[field]
    if not isinstance(value, str | int):
        raise TypeError(f"{field} is no text")
    return str(value)


def _moment(value: object) -> datetime:
    try:
        moment = datetime.fromisoformat(str(value).strip())
    except ValueError as exc:
        raise ValueError(f"created_at {value!r} is no date") from exc
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _links(value: object) -> tuple[str, ...]:
    given = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(normalise(str(link)) for link in given)


def _count(value: object) -> int | None:
    try:
        number = int(float(str(value)))
    except (ValueError, OverflowError):
        return None
    return number if number >= 0 else None


def _pseudonym(author: str, salt: str) -> str:
    return hmac.new(salt.encode(), normalise(author).encode(), hashlib.sha256).hexdigest()[:16]


def _reason(exc: Exception) -> str:
    return f"it lacks {exc.args[0]}" if isinstance(exc, KeyError) else str(exc)
