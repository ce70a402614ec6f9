"""Posts of a stream on this machine, searched by their words: SQLite's full-text index, written by one process and read
by others."""

import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from connectors.protocol import Window
from domain.post import Post

_SCHEMA = """
CREATE TABLE IF NOT EXISTS posts (
    number INTEGER PRIMARY KEY, uri TEXT UNIQUE NOT NULL, author TEXT, text TEXT NOT NULL, url TEXT,
    links TEXT NOT NULL, language TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS posts_at ON posts (at);
CREATE INDEX IF NOT EXISTS posts_author ON posts (author);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (text, content='posts', content_rowid='number');
CREATE TABLE IF NOT EXISTS removed (uri TEXT PRIMARY KEY, at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS removed_authors (author TEXT PRIMARY KEY, at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS forgotten (mark TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS gaps (since INTEGER PRIMARY KEY, until INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS place (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
"""
_OF_URI = "SELECT number, text FROM posts WHERE uri = ?"
_OF_AUTHOR = "SELECT number, text FROM posts WHERE author = ?"
_OF_BEFORE = "SELECT number, text FROM posts WHERE at < ?"
_WAIT_S = 10.0  # for another process to finish writing
_MOST_GAPS_TOLD = 3
EVER = datetime(1970, 1, 1, tzinfo=UTC)  # what a gap begins with before which nothing is held


@dataclass(frozen=True, slots=True)
class Place:
    """How far the stream was taken in: the number of its last event, and when that was."""

    cursor: int | None = None
    reached: datetime | None = None


@dataclass(frozen=True, slots=True)
class PostRemoved:
    uri: str


@dataclass(frozen=True, slots=True)
class AccountChanged:
    """An account was removed, or (active) is there again; `author` as its posts have it."""

    author: str
    active: bool


@dataclass(frozen=True, slots=True)
class Gap:
    """The stream did not give what happened between the two."""

    since: datetime
    until: datetime


Change = Post | PostRemoved | AccountChanged | Gap


class StreamIndex:
    """May be shared by threads and processes: each use has a connection of its own. `mark` is the keyed hash that
    authors' pseudonyms are made with. Methods that read raise sqlite3.Error where there is no file."""

    def __init__(self, file: Path, platform: str, mark: Callable[[str], str]) -> None:
        self._file, self._platform, self._mark = file, platform, mark

    def write(self, changes: Iterable[Change], place: Place, now: datetime) -> None:
        """What the stream brought, in its order, with the place in the stream: all or nothing."""
        with self._writing() as conn:
            for change in changes:
                self._apply(conn, change, now)
            for name, value in (("cursor", place.cursor), ("reached", place.reached and _micros(place.reached))):
                if value is not None:
                    conn.execute("INSERT OR REPLACE INTO place VALUES (?, ?)", [name, value])

    def forget(self, ids: Iterable[str]) -> None:
        """Let posts go, or all posts of accounts (DIDs), and never take them in again."""
        with self._writing() as conn:
            for id_ in ids:
                conn.execute("INSERT OR IGNORE INTO forgotten VALUES (?)", [self._mark(id_)])
                self._take_out(conn, _OF_URI, id_)
                self._take_out(conn, _OF_AUTHOR, self._mark(id_))
                conn.execute("DELETE FROM removed WHERE uri = ? OR instr(uri, ?) = 1", [id_, f"at://{id_}/"])
        with self._open() as conn:  # the texts were overwritten in the file; here in its log of writes
            conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def drop_before(self, moment: datetime, *, authors_before: datetime) -> None:
        """Let posts go that are older than what is searched, and what is known of accounts for longer than needed."""
        cut = _micros(moment)
        with self._writing() as conn:
            self._take_out(conn, _OF_BEFORE, cut)
            conn.execute("DELETE FROM removed WHERE at < ?", [cut])
            conn.execute("DELETE FROM removed_authors WHERE at < ?", [_micros(authors_before)])
            conn.execute("DELETE FROM gaps WHERE until <= ?", [cut])
            conn.execute("INSERT OR IGNORE INTO gaps VALUES (?, ?)", [_micros(EVER), cut])

    @property
    def place(self) -> Place:
        if not self._file.exists():
            return Place()
        with self._open() as conn:
            held = dict(conn.execute("SELECT name, value FROM place").fetchall())
        reached = held.get("reached")
        return Place(held.get("cursor"), None if reached is None else _moment(reached))

    def search(self, match: str, window: Window, offset: int, limit: int) -> list[Post]:
        """Posts that fit an FTS5 expression, the newest first."""
        with self._open() as conn:
            rows = conn.execute(
                "SELECT uri, author, text, url, links, language, at FROM posts WHERE at >= ? AND at < ?"
                " AND number IN (SELECT rowid FROM words WHERE words MATCH ?) ORDER BY at DESC, uri LIMIT ? OFFSET ?",
                [_micros(window.since), _micros(window.until), match, limit, offset],
            ).fetchall()
        return [self._post(row) for row in rows]

    def count(self, match: str, window: Window) -> int:
        with self._open() as conn:
            row = conn.execute(
                "SELECT count(*) FROM posts WHERE at >= ? AND at < ?"
                " AND number IN (SELECT rowid FROM words WHERE words MATCH ?)",
                [_micros(window.since), _micros(window.until), match],
            ).fetchone()
        return int(row[0])

    def missing(self, window: Window) -> str:
        """Which times of the window the stream did not give, in words; empty: none."""
        with self._open() as conn:
            rows = conn.execute(
                "SELECT since, until FROM gaps WHERE since < ? AND until > ? ORDER BY since",
                [_micros(window.until), _micros(window.since)],
            ).fetchall()
        told = [_words_of_gap(_moment(since), _moment(until)) for since, until in rows[:_MOST_GAPS_TOLD]]
        more = len(rows) - len(told)
        return "; ".join([*told, f"and {more} more such times"] if more else told)

    def removed(self, uris: Sequence[str]) -> set[str]:
        """Those that the stream has said were removed, themselves or with their account, or that are forgotten."""
        with self._open() as conn:
            return {uri for uri in uris if self._is_removed(conn, uri)}

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # mode=rw: a reader makes no file, which would look like a stream that brought nothing.
        address = f"{self._file.absolute().as_uri()}?mode=rw"
        conn = sqlite3.connect(address, timeout=_WAIT_S, isolation_level=None, uri=True)
        try:
            yield conn
        finally:
            conn.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that has the file to itself from its beginning: what it reads (is this post forgotten?) is
        still so when it writes. A process that is killed leaves nothing of it."""
        self._make()
        with self._open() as conn:
            conn.executescript(_SCHEMA)  # tables that a file of an earlier version lacks
            conn.execute("PRAGMA secure_delete = ON")  # texts taken out are overwritten
            conn.execute("BEGIN IMMEDIATE")
            try:
                yield conn
            except BaseException:
                conn.execute("ROLLBACK")
                raise
            conn.execute("COMMIT")

    def _make(self) -> None:
        """Make the file unless it is there; it appears whole, since readers may be looking for it."""
        if self._file.exists():
            return
        with tempfile.TemporaryDirectory(dir=self._file.parent) as folder:
            made = Path(folder) / "made"
            conn = sqlite3.connect(made)
            conn.execute("PRAGMA journal_mode = WAL")  # readers and the writer do not wait for each other
            conn.executescript(_SCHEMA)
            conn.close()
            with suppress(FileExistsError):  # another process was first: a rename would replace what it wrote
                self._file.hardlink_to(made)

    def _apply(self, conn: sqlite3.Connection, change: Change, now: datetime) -> None:
        match change:
            case Post():
                self._put(conn, change)
            case PostRemoved(uri):
                self._take_out(conn, _OF_URI, uri)
                if not self._is_forgotten(conn, uri):  # of those the mark is kept, and not the address
                    conn.execute("INSERT OR REPLACE INTO removed VALUES (?, ?)", [uri, _micros(now)])
            case AccountChanged(author, active=True):
                conn.execute("DELETE FROM removed_authors WHERE author = ?", [author])
            case AccountChanged(author):
                self._take_out(conn, _OF_AUTHOR, author)
                conn.execute("INSERT OR REPLACE INTO removed_authors VALUES (?, ?)", [author, _micros(now)])
            case Gap(since, until):
                conn.execute("INSERT OR REPLACE INTO gaps VALUES (?, ?)", [_micros(since), _micros(until)])

    def _put(self, conn: sqlite3.Connection, post: Post) -> None:
        uri = post.platform_id
        if _any(conn, "SELECT 1 FROM removed_authors WHERE author = ?", post.author) or self._is_forgotten(conn, uri):
            return
        self._take_out(conn, _OF_URI, uri)
        conn.execute("DELETE FROM removed WHERE uri = ?", [uri])  # it is there again
        number = conn.execute(
            "INSERT INTO posts (uri, author, text, url, links, language, at) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [uri, post.author, post.text, post.url, json.dumps(post.links), post.language, _micros(post.created_at)],
        ).lastrowid
        conn.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", [number, post.text])

    def _take_out(self, conn: sqlite3.Connection, chosen: str, value: object) -> None:
        for row in conn.execute(chosen, [value]).fetchall():  # the words first: the index looks up what it must forget
            conn.execute("INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", row)
            conn.execute("DELETE FROM posts WHERE number = ?", row[:1])

    def _is_forgotten(self, conn: sqlite3.Connection, uri: str) -> bool:
        return _any(conn, "SELECT 1 FROM forgotten WHERE mark IN (?, ?)", self._mark(uri), self._mark(_account(uri)))

    def _is_removed(self, conn: sqlite3.Connection, uri: str) -> bool:
        return (
            _any(conn, "SELECT 1 FROM removed WHERE uri = ?", uri)
            or _any(conn, "SELECT 1 FROM removed_authors WHERE author = ?", self._mark(_account(uri)))
            or self._is_forgotten(conn, uri)
        )

    def _post(self, row: Sequence[Any]) -> Post:
        uri, author, text, url, links, language, at = row
        return Post(self._platform, uri, text, _moment(at), url, author, tuple(json.loads(links)), language)


def _any(conn: sqlite3.Connection, statement: str, *values: object) -> bool:
    return conn.execute(statement, values).fetchone() is not None


def _account(uri: str) -> str:
    """The DID of at://DID/collection/key."""
    return uri.removeprefix("at://").split("/", 1)[0]


def _words_of_gap(since: datetime, until: datetime) -> str:
    if since == EVER:
        return f"nothing is held of before {until:%Y-%m-%d %H:%M} UTC"
    return f"the stream was missed from {since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M} UTC"


def _micros(moment: datetime) -> int:
    return (moment - EVER) // timedelta(microseconds=1)


def _moment(micros: int) -> datetime:
    return EVER + timedelta(microseconds=micros)
