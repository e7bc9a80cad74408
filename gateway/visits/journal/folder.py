"""The folder of the journal, which one process locks at a time."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class JournalInUseError(Exception):
    """Another process has locked the folder."""


class Folder:
    """A folder that this process locks until `close`. Raises JournalInUseError and OSError.

    Slow file operations go through `run`. A thread continues after its task is cancelled, and the
    next process must not lock the folder before it ends. So `close` waits for it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = _lock(path)
        self._running: set[asyncio.Task[Any]] = set()

    def renew(self) -> None:
        """Create and lock the folder again after somebody removed it."""
        lock = _lock(self.path)
        os.close(self._lock)
        self._lock = lock

    async def run(self, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `operation` in a thread, and return or raise what it does."""
        running = asyncio.create_task(asyncio.to_thread(operation, *args, **kwargs))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        return await asyncio.shield(running)

    def free_bytes(self) -> int:
        """Return the free space of the disk for this process. Raises OSError."""
        return _free_bytes(self._lock)

    def sync(self, suspect: Iterable[Path] = ()) -> None:
        """Sync the names of files to disk. Raises OSError.

        `suspect` are names whose sync failed. They are recreated, since the kernel may have marked
        them clean.
        """
        for path in suspect:
            other = path.with_suffix(".renamed")
            path.rename(other)
            other.rename(path)
        fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    async def close(self) -> None:
        """Release the folder after all operations have ended."""
        while self._running:
            await asyncio.wait(self._running)
        os.close(self._lock)


def _lock(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise JournalInUseError(f"The journal {folder} is in use by another process.") from None
    return fd


def _free_bytes(fd: int) -> int:
    disk = os.fstatvfs(fd)
    return disk.f_bavail * disk.f_frsize
