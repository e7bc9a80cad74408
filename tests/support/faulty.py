"""A store's database on which a process ends in the midst of its writes."""

from __future__ import annotations

from typing import Any


class Crash(Exception):
    """The process ended in the midst of its writes."""


class Faulty:
    """A database, of either kind, on which a process ends at a write: before it or just after."""

    def __init__(self, database: Any) -> None:
        self._database = database
        for name in ("read_majority", "read_held", "read_in_thread"):  # What only MongoDB has.
            if hasattr(database, name):
                setattr(self, name, getattr(database, name))
        self._left: int | None = None
        self._done = False

    def arm(self, writes: int, *, done: bool) -> None:
        """Crash at the write that comes after so many; `done` says whether it still takes place."""
        self._left, self._done = writes, done

    async def read(self, name: str, operation: Any) -> Any:
        return await self._database.read(name, operation)

    async def write(self, name: str, operation: Any) -> Any:
        return await self._faulty(self._database.write, name, operation)

    async def transaction(self, name: str, work: Any) -> Any:
        """A write, of which nothing takes place or all."""
        return await self._faulty(self._database.transaction, name, work)

    async def _faulty(self, write: Any, name: str, operation: Any) -> Any:
        if self._left is None:
            return await write(name, operation)
        if self._left == 0:
            if self._done:
                await write(name, operation)
            raise Crash
        self._left -= 1
        return await write(name, operation)
