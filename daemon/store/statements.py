"""SQL statements as data: each named and described in a .sql file, read once.

-- name: due_watches
-- What it gives, in a line or two.
SELECT …
"""

import re
from functools import cache
from importlib import resources

from psycopg import sql


@cache
def statements(file: str) -> dict[str, sql.SQL]:
    """The statements of `daemon/store/sql/<file>.sql` by name."""
    text = (resources.files("daemon.store") / "sql" / f"{file}.sql").read_text("utf-8")
    parts = re.split(r"^-- name: (\w+)$", text, flags=re.MULTILINE)[1:]
    return {name: sql.SQL(body.strip()) for name, body in zip(parts[::2], parts[1::2], strict=True)}
