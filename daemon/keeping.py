"""What may be kept of posts, and for how long: rechecks, retention, and what someone asks to be forgotten."""

import logging
from datetime import timedelta
from pathlib import Path

import psycopg

from connectors.protocol import Connector, SearchFailed
from connectors.records import pseudonym
from daemon.service import Service
from daemon.store import posts
from daemon.store.posts import Purged

logger = logging.getLogger(__name__)

_BATCH = 500  # posts a request or transaction
_IN_GOOD_TIME = 0.75  # of the hours that the platform allows: a recheck that fails can be tried again


def is_due(service: Service, conn: psycopg.Connection) -> bool:
    """Whether any connector has posts to ask for again or to let go."""
    return any(
        _to_recheck(service, conn, connector, 1) or _expired(service, conn, connector, 1)
        for connector in service.connectors.values()
    )


def keep_house(service: Service) -> Purged:
    """Ask platforms which posts are gone, purge those and the ones that may be kept no longer."""
    purged = Purged()
    for connector in service.connectors.values():
        purged += _recheck(service, connector) + _expire(service, connector)
    if purged.posts:
        logger.info("posts purged", extra={"action": "purge", "posts": purged.posts, "matches": purged.matches})
    return purged


def _recheck(service: Service, connector: Connector) -> Purged:
    purged = Purged()
    while waiting := _next_batch(service, connector):
        try:
            gone = connector.gone(list(waiting))
        except SearchFailed as exc:
            logger.warning("recheck failed", extra={"connector": connector.name, "outcome": str(exc.outcome)})
            return purged
        now = service.clock()
        with service.database.connection() as conn:
            purged += posts.purge(conn, connector.name, sorted(gone), now=now)
            posts.checked(conn, list(waiting.values()), now=now)
    return purged


def _next_batch(service: Service, connector: Connector) -> dict[str, int]:
    with service.database.connection() as conn:
        return _to_recheck(service, conn, connector, _BATCH)


def _to_recheck(service: Service, conn: psycopg.Connection, connector: Connector, limit: int) -> dict[str, int]:
    hours = connector.policy.recheck_hours
    if hours is None:
        return {}
    before = service.clock() - timedelta(hours=hours * _IN_GOOD_TIME)
    return posts.to_recheck(conn, connector.name, before=before, limit=limit)


def _expire(service: Service, connector: Connector) -> Purged:
    purged = Purged()
    while True:
        with service.database.connection() as conn:
            old = _expired(service, conn, connector, _BATCH)
            if not old:
                return purged
            purged += posts.purge_ids(conn, old, now=service.clock())


def _expired(service: Service, conn: psycopg.Connection, connector: Connector, limit: int) -> list[int]:
    days = connector.policy.keep_days
    if days is None:
        return []
    return posts.expired(conn, connector.name, before=service.clock() - timedelta(days=days), limit=limit)


def forget_post(service: Service, platform: str, platform_id: str) -> Purged:
    """Remove a post and every trace of it, and never take it in again."""
    with service.database.connection() as conn:
        posts.remember_forgotten(conn, platform, posts.forgotten_mark(platform_id), now=service.clock())
        purged = posts.forget_post(conn, platform, platform_id)
    _delete_copies(purged)
    return purged


def forget_author(service: Service, platform: str, author: str, salt: str) -> Purged:
    """Remove all posts of an author, named as the platform does, and never take one in again."""
    mark = pseudonym(author, salt)
    with service.database.connection() as conn:
        posts.remember_forgotten(conn, platform, mark, now=service.clock())
        purged = posts.forget_author(conn, platform, mark)
    _delete_copies(purged)
    return purged


def _delete_copies(purged: Purged) -> None:
    """Copies of mails in a folder; what a mail server took is out of reach."""
    for file in purged.files:
        if file.endswith(".eml"):
            Path(file).unlink(missing_ok=True)
