"""Posts that must go, with all that was made of them: matches, stored mails, embeddings."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import psycopg
from psycopg.rows import scalar_row

from daemon.store.statements import statements

_SQL = "posts"
_CLUSTER_LOCK = 7_316_003


@dataclass(frozen=True, slots=True)
class Purged:
    """What was removed. `files` are copies of mails that were put into a folder."""

    posts: int = 0
    matches: int = 0
    mails: int = 0
    files: tuple[str, ...] = ()

    def __add__(self, other: "Purged") -> "Purged":
        return Purged(
            self.posts + other.posts, self.matches + other.matches, self.mails + other.mails, self.files + other.files
        )


def purge(conn: psycopg.Connection, connector: str, platform_ids: Sequence[str], *, now: datetime) -> Purged:
    """Empty posts that a platform says are removed; they keep their id alone."""
    if not platform_ids:
        return Purged()
    ids = _ids(conn, "ids_at", {"connector": connector, "platform_ids": list(platform_ids)})
    return purge_ids(conn, ids, now=now)


def purge_ids(conn: psycopg.Connection, ids: Sequence[int], *, now: datetime) -> Purged:
    traces = _remove_traces(conn, ids)
    emptied = _ids(conn, "purge", {"ids": list(ids), "now": now})
    conn.execute(statements(_SQL)["purge_bands"], {"ids": list(ids)})
    return Purged(len(emptied), traces.matches, traces.mails, traces.files)


def forget_post(conn: psycopg.Connection, platform: str, platform_id: str) -> Purged:
    """Remove a post and every trace of it."""
    return _forget(conn, _ids(conn, "ids_of_post", {"platform": platform, "platform_id": platform_id}))


def forget_author(conn: psycopg.Connection, platform: str, pseudonym: str) -> Purged:
    """Remove all posts of an author and every trace of them."""
    return _forget(conn, _ids(conn, "ids_of_author", {"platform": platform, "author": pseudonym}))


def holds_platform(conn: psycopg.Connection, platform: str) -> bool:
    return bool(_ids(conn, "any_of_platform", {"platform": platform}))


def _forget(conn: psycopg.Connection, ids: list[int]) -> Purged:
    traces = _remove_traces(conn, ids)
    conn.execute(statements(_SQL)["remove"], {"ids": ids})
    return Purged(len(ids), traces.matches, traces.mails, traces.files)


def _remove_traces(conn: psycopg.Connection, ids: Sequence[int]) -> Purged:
    matches = _ids(conn, "matches_of", {"ids": list(ids)})
    copies = conn.execute(statements(_SQL)["copies"], {"matches": matches}).fetchall()
    digests = sorted({digest for digest, _, _ in copies})
    for name in ("drop_unsent", "empty_sent", "call_off"):
        conn.execute(statements(_SQL)[name], {"digests": digests})
    conn.execute(statements(_SQL)["remove_matches"], {"matches": matches})
    return Purged(0, len(matches), len(digests), tuple(detail for _, state, detail in copies if state == "sent"))


def remember_forgotten(conn: psycopg.Connection, platform: str, mark: str, *, now: datetime) -> None:
    conn.execute(statements(_SQL)["remember_forgotten"], {"platform": platform, "mark": mark, "now": now})


def mark(platform_id: str) -> str:
    """Under which a post is known without its id: of those that are forgotten, and of what was charged."""
    return hashlib.sha256(platform_id.encode()).hexdigest()[:32]


def forgotten(conn: psycopg.Connection, platform: str, marks: Sequence[str]) -> set[str]:
    """Those of the marks that must not come back."""
    with conn.cursor(row_factory=scalar_row) as cursor:
        values = {"platform": platform, "marks": list(marks)}
        return set(cursor.execute(statements(_SQL)["forgotten"], values).fetchall())


def unclustered(conn: psycopg.Connection, ids: Sequence[int]) -> list[tuple[int, str]]:
    """Id and text of posts that belong to no cluster yet, in the order of their ids."""
    return conn.execute(statements(_SQL)["unclustered"], {"ids": list(ids)}).fetchall()


def lock_clusters(conn: psycopg.Connection) -> None:
    """No other worker makes clusters until the transaction ends."""
    conn.execute(statements(_SQL)["lock_clusters"], {"lock": _CLUSTER_LOCK})


def cluster_heads(conn: psycopg.Connection, bands: Sequence[int]) -> list[tuple[int, str]]:
    """First posts of clusters that a text with these band hashes may belong to, the oldest first."""
    values = {"bands": list(range(len(bands))), "hashes": list(bands)}
    return conn.execute(statements(_SQL)["heads"], values).fetchall()


def begin_cluster(conn: psycopg.Connection, post: int, bands: Sequence[int]) -> None:
    with conn.cursor() as cursor:
        rows = [{"band": band, "hash": value, "post_id": post} for band, value in enumerate(bands)]
        cursor.executemany(statements(_SQL)["add_band"], rows)
    join_cluster(conn, post, post)


def join_cluster(conn: psycopg.Connection, post: int, head: int) -> None:
    conn.execute(statements(_SQL)["set_cluster"], {"id": post, "cluster": head})


def to_recheck(conn: psycopg.Connection, connector: str, *, before: datetime, limit: int) -> dict[str, int]:
    """Platform id and id of posts that have not been seen since."""
    values = {"connector": connector, "before": before, "limit": limit}
    rows = conn.execute(statements(_SQL)["to_recheck"], values).fetchall()
    return {platform_id: post for post, platform_id in rows}


def checked(conn: psycopg.Connection, ids: Sequence[int], *, now: datetime) -> None:
    conn.execute(statements(_SQL)["checked"], {"ids": list(ids), "now": now})


def keep_for(conn: psycopg.Connection, connector: str, days: int | None) -> None:
    """Note for how long the connector's posts may be kept (None: no limit)."""
    conn.execute(statements(_SQL)["keep_for"], {"connector": connector, "keep_days": days})


def expired(conn: psycopg.Connection, *, now: datetime, limit: int) -> list[int]:
    """Posts of all connectors, also of those that are set up no longer, that may be kept no longer."""
    return _ids(conn, "expired", {"now": now, "limit": limit})


def overdue(conn: psycopg.Connection, connector: str, *, before: datetime) -> int:
    """How many posts were last known to be there before a moment."""
    return _ids(conn, "overdue", {"connector": connector, "before": before})[0]


def _ids(conn: psycopg.Connection, name: str, values: dict[str, object]) -> list[int]:
    with conn.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(statements(_SQL)[name], values).fetchall()
