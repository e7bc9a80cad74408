"""The segment that is appended to, and the file that is ready to follow it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from gateway.visits import segments
from gateway.visits.folder import Folder
from gateway.visits.retention import Retention
from services.runtime import logs


class JournalFullError(Exception):
    """The journal has no room, or its disk has none; the first `appended` visits are on file."""

    def __init__(self, why: str, appended: int = 0) -> None:
        super().__init__(why)
        self.appended = appended


class ActiveSegment:
    """Appends whole lines to one segment, and goes on in the next.

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
        self._retired: list[int] = []
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
        self.dirty = True
        return written

    async def sync(self) -> None:
        """Wait until all that was appended before is on disk. Raises OSError."""
        retired, self._retired = self._retired, []
        self.dirty = False
        try:
            for fd in (*retired, self._fd):
                await self._folder.run(os.fdatasync, fd)
        except BaseException:  # Nor is anything forgotten where it is cancelled.
            self.dirty = True
            self._retired = [*retired, *self._retired]
            raise
        for fd in retired:
            os.close(fd)

    def sync_at_once(self) -> None:
        """The same without a pause, for a start. Raises OSError."""
        os.fdatasync(self._fd)
        self.dirty = False

    def close(self) -> None:
        """Close the files; one that is ready and was not begun is removed."""
        if self._next is not None:
            path, fd = self._next
            os.close(fd)
            path.unlink(missing_ok=True)
        for fd in (*self._retired, self._fd):
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
            self._retired.append(self._fd)
            self._files.resize(self.path, self.size)
        self._fd = fd
        self.path = path
        self.size = len(header)
        self.dirty = True

    def _not_begun(self, error: OSError) -> None:
        self._throttled.warning("journal_segment_not_started", error=error.strerror)
