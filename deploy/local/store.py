"""Stores of the services in a local run: one database or file each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

_DATA = {
    "auth": ("accounts",),
    "links": ("links", "removed_codes"),
    "analytics": ("totals",),
}
"""The tables of each service whose rows users have made."""


def store_of(service: str, setting: str, folder: Path) -> str:
    """Return a service's `ATAJO_STORE`: a database on the server in `setting`, or else a file.

    A database in the URL becomes a prefix: `mine` results in `mine_links`.
    """
    if not setting:
        return f"sqlite:///{_file(service, folder)}"
    address, _, options = setting.partition("?")
    scheme, _, place = address.partition("://")
    hosts, _, database = place.partition("/")
    if not database:
        return setting
    settings = [options] if options else []
    if "@" in hosts and "authsource=" not in options.lower():
        settings.append(f"authSource={database}")  # The database that has the user, by default.
    return "?".join(filter(None, (f"{scheme}://{hosts}/{database}_{service}", "&".join(settings))))


def check_complete(folder: Path) -> None:
    """Raise SystemExit with one line if a file is lost: missing or empty beside one with data.

    A service would begin with a new file. Without its file, links would issue old codes again. An
    interrupted first start leaves missing files, too, but no data.
    """
    files = {name: _file(name, folder) for name in _DATA}
    lost = [file for file in files.values() if _value(file, "PRAGMA user_version") == 0]
    full = [
        file
        for name, file in files.items()
        if file not in lost and any(_has_rows(file, table) for table in _DATA[name])
    ]
    if lost and full:
        raise SystemExit(
            f"The data folder {folder} has {_names(full)}, but {_names(lost)} is missing or empty: "
            "restore the folder from a backup, or see docs/operations/backup.md#lost-files."
        )


def _file(service: str, folder: Path) -> Path:
    return folder / f"{service}.sqlite3"


def _names(files: Iterable[Path]) -> str:
    return " and ".join(file.name for file in files)


def _has_rows(file: Path, table: str) -> bool:
    return bool(_value(file, f"SELECT EXISTS (SELECT 1 FROM {table})"))


def _value(file: Path, query: str) -> int | None:
    """Return a number from a file: 0 if there is no content, None if it cannot be read.

    The service will say why it cannot be read. SQLite would delete the log beside a file of 0
    bytes, so such a file is not opened.
    """
    try:
        if not file.stat().st_size:
            return 0
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            value: int = connection.execute(query).fetchone()[0]
            return value
    except FileNotFoundError:
        return 0
    except (OSError, sqlite3.Error):
        return None
