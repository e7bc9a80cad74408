"""Brings the schema of an SQLite file up to date before the file is used."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from services.shared import supervision
from services.shared.observability import logs
from services.shared.schema_version import SchemaTooNew
from services.shared.sqlite.connection import connect, schema_version

log = logs.get(__name__)

Migration = str
"""A script that leads from one version of a schema to the next, without BEGIN and COMMIT."""


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
        supervision.ask_for_patience(name)
    for number, migration in enumerate(migrations[version:], version + 1):
        # A script commits whatever was begun before it.
        connection.executescript(f"BEGIN IMMEDIATE; {migration}")
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
