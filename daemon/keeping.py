"""What may be kept of posts, and for how long: rechecks, retention, and what someone asks to be forgotten."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import psycopg

from connectors.protocol import Connector, Removing, SearchFailed
from connectors.records import pseudonym
from connectors.unusable import UnusableConnector
from daemon.fetching import gone, is_closed, rechecks_of
from daemon.service import Service
from daemon.store import posts
from daemon.store.posts import Purged
from domain.errors import NotForgotten

logger = logging.getLogger(__name__)

_BATCH = 500  # posts a request or transaction
_IN_GOOD_TIME = 0.75  # of the hours that the platform allows: a recheck that fails can be tried again


def is_due(service: Service, conn: psycopg.Connection) -> bool:
    """Whether there are posts to ask a platform for again or to let go."""
    return bool(posts.expired(conn, now=service.clock(), limit=1)) or any(
        _to_recheck(service, conn, connector, 1) for connector in service.connectors.values()
    )


def keep_house(service: Service) -> Purged:
    """Ask platforms which posts are gone, purge those and the ones that may be kept no longer."""
    purged = sum((_recheck(service, connector) for connector in service.connectors.values()), Purged())
    purged += _expire(service)
    if purged.posts:
        logger.info("posts purged", extra={"action": "purge", "posts": purged.posts, "matches": purged.matches})
    return purged


def _recheck(service: Service, connector: Connector) -> Purged:
    purged = Purged()
    while waiting := _next_batch(service, connector):
        try:
            found = gone(service, connector, list(waiting))
        except SearchFailed:
            return purged
        now = service.clock()
        with service.database.connection() as conn:
            purged += purge_gone(conn, connector.name, sorted(found), now=now)
            posts.checked(conn, list(waiting.values()), now=now)
    return purged


def _next_batch(service: Service, connector: Connector) -> dict[str, int]:
    with service.database.connection() as conn:
        return _to_recheck(service, conn, connector, _BATCH)


def _to_recheck(service: Service, conn: psycopg.Connection, connector: Connector, limit: int) -> dict[str, int]:
    hours, now = connector.policy.recheck_hours, service.clock()
    if hours is None or is_closed(conn, rechecks_of(connector.name), now=now):
        return {}
    before = now - timedelta(hours=hours * _IN_GOOD_TIME)
    return posts.to_recheck(conn, connector.name, before=before, limit=limit)


def _expire(service: Service) -> Purged:
    purged = Purged()
    while True:
        with service.database.connection() as conn:
            old = posts.expired(conn, now=service.clock(), limit=_BATCH)
            if not old:
                return purged
            purged += _without_copies(posts.purge_ids(conn, old, now=service.clock()))


def purge_gone(conn: psycopg.Connection, connector: str, platform_ids: Sequence[str], *, now: datetime) -> Purged:
    """Empty posts that a platform says are removed, and delete the copies of mails that hold them."""
    return _without_copies(posts.purge(conn, connector, platform_ids, now=now))


def holds_platform(service: Service, platform: str) -> bool:
    """Whether any post of a platform of that name is held: a name with a slip in it would remove nothing."""
    with service.database.connection() as conn:
        return posts.holds_platform(conn, platform)


def forget_post(service: Service, platform: str, platform_id: str) -> Purged:
    """Remove a post and every trace of it, and never take it in again.

    Raises NotForgotten where a connector's own store may still hold it; all the rest is done then.
    """
    with service.database.connection() as conn:
        posts.remember_forgotten(conn, platform, posts.mark(platform_id), now=service.clock())
        purged = _without_copies(posts.forget_post(conn, platform, platform_id))
    _forget_in_stores(service, lambda store: store.remove([platform_id]))
    return purged


def forget_author(service: Service, platform: str, author: str, salt: str) -> Purged:
    """Remove all posts of an author, named as the platform does, and never take one in again. Raises NotForgotten."""
    mark = pseudonym(author, salt)
    with service.database.connection() as conn:
        posts.remember_forgotten(conn, platform, mark, now=service.clock())
        purged = _without_copies(posts.forget_author(conn, platform, mark))
    _forget_in_stores(service, lambda store: store.remove_author(author))
    return purged


def _forget_in_stores(service: Service, remove: Callable[[Removing], None]) -> None:
    """In every store that a connector has of its own, whatever its platform: a team's index holds posts of any."""
    failed = []
    for connector in service.connectors.values():
        try:
            if isinstance(connector, Removing):
                remove(connector)
            elif isinstance(connector, UnusableConnector):
                connector.gone([])  # says why it could not be asked
        except SearchFailed as exc:
            failed.append(f"{connector.name}: {exc}")
    if failed:
        raise NotForgotten(f"removed here, but perhaps not there: {'; '.join(failed)}; forget it again once that works")


def _without_copies(purged: Purged) -> Purged:
    """Copies of mails in a folder go before the transaction ends, so that none outlives it; what a mail server took is
    out of reach."""
    for file in purged.files:
        if file.endswith(".eml"):
            Path(file).unlink(missing_ok=True)
    return purged
