"""Stores of the services in a local run: one database or file each."""

from __future__ import annotations

from pathlib import Path


def store_of(service: str, setting: str, folder: Path) -> str:
    """Return a service's `ATAJO_STORE`: a database on the server in `setting`, or else a file.

    A database in the URL becomes a prefix: `mine` results in `mine_links`.
    """
    if not setting:
        return f"sqlite:///{folder / service}.sqlite3"
    address, _, options = setting.partition("?")
    scheme, _, place = address.partition("://")
    hosts, _, database = place.partition("/")
    if not database:
        return setting
    settings = [options] if options else []
    if "@" in hosts and "authsource=" not in options.lower():
        settings.append(f"authSource={database}")  # The database that has the user, by default.
    return "?".join(filter(None, (f"{scheme}://{hosts}/{database}_{service}", "&".join(settings))))
