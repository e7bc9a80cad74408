"""Wraps a store's database to simulate a process that crashes between its writes."""

from __future__ import annotations

from typing import Any


class Crash(Exception):
    """The simulated crash of the process."""


class CrashingDatabase:
    """A database of either kind that raises `Crash` instead of a write, or just after it."""

    def __init__(self, database: Any) -> None:
        self._database = database
        # Methods that only MongoDB has.
        for name in ("read_majority", "read_key_holder", "read_in_thread", "read_feed"):
            if hasattr(database, name):
                setattr(self, name, getattr(database, name))
        self._left: int | None = None
        self._done = False

    def arm(self, writes: int, *, done: bool) -> None:
        """Crash at the write after `writes` further ones; with `done`, after executing it."""
        self._left, self._done = writes, done

    def disarm(self) -> None:
        """Crash no more."""
        self._left = None

    async def read(self, name: str, operation: Any) -> Any:
        return await self._database.read(name, operation)

    async def write(self, name: str, operation: Any) -> Any:
        return await self._write(self._database.write, name, operation)

    async def transaction(self, name: str, work: Any) -> Any:
        """Run a transaction, which counts as one write."""
        return await self._write(self._database.transaction, name, work)

    async def _write(self, write: Any, name: str, operation: Any) -> Any:
        if self._left is None:
            return await write(name, operation)
        if self._left == 0:
            if self._done:
                await write(name, operation)
            raise Crash
        self._left -= 1
        return await write(name, operation)
