"""Upgrades the schema of an SQLite file before the file is used."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from services.shared import supervisor
from services.shared.observability import logs
from services.shared.schema_version import UnsupportedSchemaVersion
from services.shared.sqlite.connection import connect, schema_version

log = logs.get(__name__)

Migration = str
"""A script that upgrades a schema to the next version, without BEGIN and COMMIT."""


def open_migrated(path: Path, migrations: Sequence[Migration]) -> sqlite3.Connection:
    """Open or create the file and run the missing migrations, one transaction each.

    `migrations[n]` upgrades schema version n to n + 1. Raises UnsupportedSchemaVersion if the file
    has a version beyond the last migration.
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
        raise UnsupportedSchemaVersion(name, version, len(migrations))
    if 0 < version < len(migrations):  # Creating a file takes no time.
        log.info("schema_upgrading", version=version, to=len(migrations))
        supervisor.report_upgrading(name)
    for number, migration in enumerate(migrations[version:], version + 1):
        # `executescript` commits any open transaction first.
        connection.executescript(f"BEGIN IMMEDIATE; {migration}")
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
