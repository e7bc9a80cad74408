"""Where the services of a local run keep their data: one database or file each."""

from __future__ import annotations

from pathlib import Path


def store_of(service: str, setting: str, folder: Path) -> str:
    """A service's `ATAJO_STORE`: its own database of the server `setting` names, else its file.

    A database the URL names is taken as the beginning of its name: `mine` gives `mine_links`.
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
        settings.append(f"authSource={database}")  # Where the user is known, unless told.
    return "?".join(filter(None, (f"{scheme}://{hosts}/{database}_{service}", "&".join(settings))))
