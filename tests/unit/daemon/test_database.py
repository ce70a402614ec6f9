"""What is said of a database that cannot be used."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from daemon.database import Database, data_source, open_database
from daemon.settings import Settings
from domain.errors import BadSetting, DatabaseUnavailable


@pytest.fixture(scope="module")
def database(server_home: Path) -> Iterator[Database]:
    with open_database(Settings(home=server_home)) as database:
        yield database


@pytest.mark.parametrize("fault", [errors.DeadlockDetected, errors.QueryCanceled, errors.LockNotAvailable])
def test_a_statement_that_fails_is_not_a_database_that_is_away(
    database: Database, fault: type[psycopg.OperationalError]
) -> None:
    with pytest.raises(fault), database.connection():
        raise fault("not now")


@pytest.mark.parametrize(
    "fault", [errors.AdminShutdown, errors.CannotConnectNow, errors.ConnectionFailure, psycopg.OperationalError]
)
def test_a_server_that_goes_is_said_to_be_unreachable(
    database: Database, fault: type[psycopg.OperationalError]
) -> None:
    with pytest.raises(DatabaseUnavailable, match="the embedded server was stopped"), database.connection():
        raise fault("gone")


def test_a_given_server_on_a_socket_is_not_the_embedded_one(tmp_path: Path) -> None:
    settings = Settings(database_url=f"host={tmp_path} dbname=claims user=desk")
    with pytest.raises(DatabaseUnavailable, match=f"check that Postgres runs at {tmp_path}"), open_database(settings):
        pass


@pytest.mark.parametrize("name", ["run", "postgres"])
def test_a_file_in_place_of_a_folder_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(BadSetting, match=f"{tmp_path / name} is no folder"):
        data_source(Settings(home=tmp_path))
