"""The error for a store whose schema is newer than the program."""

from __future__ import annotations


class UnsupportedSchemaVersion(Exception):
    """A newer version of the program has used this store. The text is one line."""

    def __init__(self, store: str, version: int, known: int) -> None:
        super().__init__(f"{store} has schema version {version}; this program knows up to {known}.")
