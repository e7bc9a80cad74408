"""The segment that is appended to, and the file that is ready to follow it."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from gateway.visits import segments
from gateway.visits.folder import Folder
from gateway.visits.retention import Retention
from services.runtime import logs

MAX_UNSYNCED_BYTES = 32 << 20
"""Limit of what is not on disk yet, a copy of which stays in memory."""


class JournalFullError(Exception):
    """The journal has no room, or its disk has none; the first `appended` visits are on file."""

    def __init__(self, why: str, appended: int = 0) -> None:
        super().__init__(why)
        self.appended = appended


@dataclass(slots=True)
class _Tail:
    """What of a file is not known to be on disk, from byte `start` on."""

    path: Path
    start: int
    chunks: list[bytes]
    is_suspect: bool = False
    """Whether a sync failed. The kernel reports that once and may keep the pages as clean, so that
    the next sync would succeed without writing them."""


class ActiveSegment:
    """Appends whole lines to one segment, and goes on in the next.

    After a failed sync the next one first writes again what is not known to be on disk.

    A journal whose disk was full at the start has a path for it, but no file yet (`is_begun`).
    """

    def __init__(self, folder: Folder, files: Retention, path: Path) -> None:
        self.path = path
        self.size = 0
        """Bytes of it, 0 before it is begun."""
        self._folder = folder
        self._files = files
        self._fd = -1
        self._torn = False
        self._next: tuple[Path, int] | None = None
        self._tail = _Tail(path, 0, [])
        self._unsynced = 0
        self._retired: list[tuple[int, _Tail]] = []
        self._throttled = logs.Throttled(__name__)
        self.dirty = False
        """Whether something was appended that `sync` has not brought to disk."""

    @property
    def is_begun(self) -> bool:
        """Whether there is a file with its first line."""
        return self._fd >= 0

    @property
    def has_next(self) -> bool:
        """Whether the file that follows is ready."""
        return self._next is not None

    def begin(self, header: bytes) -> None:
        """Begin with this first line, where the disk has room. Raises OSError for other trouble."""
        try:
            fd = segments.create(self.path)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            self._not_begun(error)
            return
        self._go_on_in(self.path, fd, header)

    async def prepare_next(self) -> None:
        """Make the file that follows, so that `roll` need not wait for the disk. Raises OSError."""
        if self._next is None:
            path = segments.path_of(self._folder.path, segments.position_of(self.path) + 1)
            self._next = path, await self._folder.run(segments.create, path)

    def roll(self, header: bytes) -> None:
        """Go on in the file that is ready, if there is one and the disk takes its first line."""
        if self._next is not None:
            path, fd = self._next
            self._next = None
            self._go_on_in(path, fd, header)

    def write(self, lines: bytes) -> int:
        """Append lines with one write(2); returns the bytes that are on file.

        Where the disk takes only a part, the whole lines of it stay. Raises JournalFullError where
        not even the first does.
        """
        if self._fd < 0:
            raise JournalFullError("The journal's disk had no room to begin.")
        if self._unsynced + len(lines) > MAX_UNSYNCED_BYTES:
            raise JournalFullError("The journal's disk does not keep up.")
        size = self.size
        try:
            if self._torn:
                os.ftruncate(self._fd, size)
                self._torn = False
            written = os.write(self._fd, lines)
            if written != len(lines):
                self._torn = True
                written = lines.rfind(b"\n", 0, written) + 1
                os.ftruncate(self._fd, size + written)
                self._torn = False
        except OSError as error:
            raise JournalFullError(f"The journal cannot be written: {error.strerror}") from error
        if not written:
            raise JournalFullError("The disk of the journal is full.")
        self.size = size + written
        self._note_unsynced(lines[:written])
        return written

    async def sync(self) -> None:
        """Wait until all that was appended before is on disk. Raises OSError."""
        retired, self._retired = self._retired, []
        self.dirty = False
        try:
            for fd, tail in (*retired, (self._fd, self._tail)):
                await self._sync(fd, tail)
        except BaseException:  # Nor is anything forgotten where it is cancelled.
            self.dirty = True
            self._retired = [*retired, *self._retired]
            raise
        for fd, _ in retired:
            os.close(fd)

    async def _sync(self, fd: int, tail: _Tail) -> None:
        chunks, tail.chunks = tail.chunks, []
        again = b"".join(chunks) if tail.is_suspect else b""
        try:
            await self._folder.run(_bring_to_disk, fd, tail.path, tail.start, again)
        except BaseException:  # Cancelled, its outcome is not known.
            tail.is_suspect = True
            tail.chunks = [*chunks, *tail.chunks]
            raise
        synced = sum(map(len, chunks))
        tail.start += synced
        tail.is_suspect = False
        self._unsynced -= synced

    def sync_at_once(self) -> None:
        """The same without a pause, for a start. Raises OSError."""
        os.fdatasync(self._fd)
        self.dirty = False
        self._unsynced = 0
        self._tail = _Tail(self.path, self.size, [])

    def close(self) -> None:
        """Close the files; one that is ready and was not begun is removed."""
        if self._next is not None:
            path, fd = self._next
            os.close(fd)
            path.unlink(missing_ok=True)
        for fd in (*(fd for fd, _ in self._retired), self._fd):
            if fd >= 0:
                os.close(fd)

    def _go_on_in(self, path: Path, fd: int, header: bytes) -> None:
        try:
            if os.write(fd, header) != len(header):
                raise OSError(errno.ENOSPC, "the disk is full")
        except OSError as error:
            self._not_begun(error)
            os.close(fd)
            path.unlink()
            return
        if self._fd >= 0:
            self._retired.append((self._fd, self._tail))
            self._files.resize(self.path, self.size)
        self._fd = fd
        self.path = path
        self.size = len(header)
        self._tail = _Tail(path, 0, [])
        self._note_unsynced(header)

    def _note_unsynced(self, data: bytes) -> None:
        self._tail.chunks.append(data)
        self._unsynced += len(data)
        self.dirty = True

    def _not_begun(self, error: OSError) -> None:
        self._throttled.warning("journal_segment_not_started", error=error.strerror)


def _bring_to_disk(fd: int, path: Path, start: int, again: bytes) -> None:
    """Write bytes of a file `again`, where there are any, and bring the file to disk."""
    if again:
        segments.rewrite(path, start, again)
    os.fdatasync(fd)
