"""What posts of every platform have in common when they are read: pseudonyms, moments, counts."""

import hashlib
import hmac
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from domain.post import Post
from domain.text import normalise

_MOST_COUNTED = 2**63 - 1  # what the store can hold
_MOST_SHOWN = 80  # characters of a fault in a notice


def pseudonym(author: str, salt: str) -> str:
    """A keyed hash: the same for all posts of an author, of no use to those who lack the key."""
    return hmac.new(salt.encode(), normalise(author).encode(), hashlib.sha256).hexdigest()[:16]


def moment(value: object) -> datetime:
    """An ISO 8601 moment as aware UTC; without a zone it is UTC. Raises ValueError, in words."""
    if isinstance(value, datetime):
        found = value
    else:
        try:
            found = datetime.fromisoformat(str(value).strip())
        except ValueError as exc:
            raise ValueError(f"its date is no ISO 8601 date: {str(value)[:40]!r}") from exc
    try:
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError as exc:
        raise ValueError(f"its date cannot be: {str(value)[:40]!r}") from exc


def count(value: object) -> int | None:
    """A number of likes or the like; None where none is given."""
    if value is None or value == "" or isinstance(value, bool):
        return None
    try:
        number = int(float(str(value)))
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= _MOST_COUNTED else None


def read_records(records: Iterable[Any], read: Callable[[Any], Post | None]) -> tuple[list[Post], list[str]]:
    """Posts in the order of their records, each id once, and a notice for each record that could not be read.

    `read` gives None for a record that is no post of the search, and may raise what reading odd data raises.
    """
    posts: dict[str, Post] = {}
    notices = []
    for record in records:
        try:
            post = read(record)
        except (ValueError, TypeError, KeyError, AttributeError, LookupError, OverflowError) as exc:
            notices.append(f"left out a record that cannot be read: {_named(record)}{type(exc).__name__} {exc}"[:200])
        else:
            if post is not None:
                posts.setdefault(post.platform_id, post)
    return list(posts.values()), notices


def _named(record: Any) -> str:
    identifier = record.get("id") or record.get("uri") if isinstance(record, dict) else None
    return f"{str(identifier)[:_MOST_SHOWN]}: " if identifier else ""
