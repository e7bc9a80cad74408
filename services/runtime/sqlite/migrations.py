"""Brings the schema of an SQLite file up to date before the file is used."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from services.runtime import logs, ready
from services.runtime.schema import SchemaTooNew
from services.runtime.sqlite.connection import connect, schema_version

log = logs.get(__name__)

Migration = str | Callable[[sqlite3.Connection], None]
"""What leads from one version of a schema to the next: a script of statements, or a function where
SQL cannot say it. Neither begins or commits: it is part of a transaction."""


def open_migrated(path: Path, migrations: Sequence[Migration]) -> sqlite3.Connection:
    """Open or make the file, one transaction for each version that it lacks.

    `migrations[n]` leads from schema version n to n + 1. Raises SchemaTooNew where the file's
    version is above the last of them.
    """
    connection = connect(path)
    try:
        _migrate(connection, str(path), migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection, name: str, migrations: Sequence[Migration]) -> None:
    version = schema_version(connection)
    if version > len(migrations):
        raise SchemaTooNew(name, version, len(migrations))
    if 0 < version < len(migrations):  # A file that is new takes no time.
        log.info("schema_upgrading", version=version, to=len(migrations))
        ready.ask_for_patience(name)
    for number, migration in enumerate(migrations[version:], version + 1):
        if isinstance(migration, str):  # A script commits whatever was begun before it.
            connection.executescript(f"BEGIN IMMEDIATE; {migration}")
        else:
            connection.execute("BEGIN IMMEDIATE")
            migration(connection)
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")


@contextmanager
def functions(connection: sqlite3.Connection, **named: Callable[..., Any]) -> Iterator[None]:
    """Within the block, SQL knows these functions. What one of them raises, the block raises.

    SQLite by itself says no more than that some function raised something.
    """
    raised: list[Exception] = []
    for name, function in named.items():
        connection.create_function(name, -1, _telling(function, raised))
    try:
        yield
    except sqlite3.OperationalError as error:
        if raised:
            raise raised[0] from error
        raise
    finally:
        for name in named:
            connection.create_function(name, -1, None)


def _telling(function: Callable[..., Any], raised: list[Exception]) -> Callable[..., Any]:
    """A function that adds to `raised` what it raises."""

    def called(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            raised.append(error)
            raise

    return called
