"""The version of a store's schema, which is kept in the store itself."""

from __future__ import annotations


class SchemaTooNew(Exception):
    """A later version of the program was here; its text is one clear line."""

    def __init__(self, store: str, version: int, known: int) -> None:
        super().__init__(f"{store} has schema version {version}; this program knows up to {known}.")
