"""The visit journal: a write-ahead log. Each visit is in the journal before its response is sent.

The journal is a folder with one file for each batch that analytics has not acknowledged. The file
name identifies the batch: batch number and gateway id. A file has one line per visit (`lines`).
Visits are appended to the newest file with one pwrite(2), so they survive the death of the process.
`sync` makes them survive a power cut.

`close_batch` begins the next file. A batch is sent only after it was closed and synced, so that a
resend is the same batch, and its file is removed once it is acknowledged. The newest file is not a
closed batch and is never removed, so numbers never repeat. At a start, all existing files are
closed batches, and a new file begins. If a later version of Atajo left files, the gateway also
takes a new id: analytics would refuse their numbers after higher ones of the same gateway.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections import deque
from collections.abc import Callable
from pathlib import Path

from gateway.visits.journal import lines
from gateway.visits.journal.batch import Batch, merge_visitors
from gateway.visits.journal.files import (
    DIVIDED,
    WHOLE,
    BatchFile,
    count_lines,
    find_files,
    read_file,
    sync_file,
    sync_path,
)
from gateway.visits.journal.folder import Folder
from gateway.visits.journal.lines import Visit
from services.shared.observability import logs

log = logs.get(__name__)

HEADROOM = 256 << 10
"""Bytes that are left free on the disk, so that the next file can be created."""
MAX_UNSYNCED_BYTES = 32 << 20
"""Maximum bytes that are not synced yet. Memory has a copy of them."""
_MAX_BATCHES_IN_MEMORY = 8
"""Closed batches whose visits stay in memory. Later ones are read back from their files."""


class JournalFullError(Exception):
    """The journal or its disk is full. The first `appended` visits were written."""

    def __init__(self, why: str, appended: int = 0) -> None:
        super().__init__(why)
        self.appended = appended


class Journal:
    """The visits of one gateway that analytics has not acknowledged.

    Appending never waits for the disk; `sync` does, in a thread. For use within one event loop.
    `max_bytes` is the maximum size of the files. A batch is sent by lanes if `divides` returns True
    when it begins. Raises JournalInUseError, JournalFullError if there is no room for a new
    journal, and OSError.
    """

    def __init__(
        self, folder: Path, max_bytes: int, *, divides: Callable[[], bool] = lambda: False
    ) -> None:
        self._folder = Folder(folder)
        self._divides = divides
        self._max_bytes = max_bytes
        self.limit = max_bytes
        """Maximum bytes of all files: `max_bytes`, or less if the disk has less."""
        self._line_of = lines.VisitLines().__getitem__
        found, later = find_files(folder)
        self._closed = deque(found)
        self._unsynced: deque[BatchFile] = deque()
        self._acknowledged: deque[BatchFile] = deque()
        self.size = sum(file.size for file in self._closed)
        """Bytes of all files."""
        self._unsynced_bytes = 0
        self._was_full = self._is_unsynced_at_close = False
        self._new_names: list[Path] = []
        self._suspect_names: list[Path] = []
        # Visits that were appended, and visits that were acknowledged or lost. Both only grow, so
        # that any thread may read their difference.
        self._appended = self._finished = 0
        self._throttled = logs.Throttled(__name__)
        self.lost_lines = 0
        """Visits that were in a file and could not be read."""
        newest = found[-1] if found else None
        if newest and newest.gateway_id not in later:
            self.gateway_id = newest.gateway_id
        else:
            self.gateway_id = secrets.token_hex(16)
            if not newest and self._folder.free_bytes() < lines.MAX_BYTES:
                raise JournalFullError("its disk has no room to begin it")
        number = newest.number + 1 if newest else 1
        if (
            newest
            and not newest.size
            and (newest.gateway_id, newest.version) == (self.gateway_id, self._next_version())
        ):
            number = self._closed.pop().number  # It was never sent.
        self._active = self._begin(number)
        self._folder.sync()
        self._new_names.clear()

    async def count_restored(self) -> None:
        """Count the visits of earlier processes. Sending them does not depend on it."""
        for file in [file for file in self._closed if not file.is_counted]:
            visits, error = 0, ""
            try:
                visits = await self._folder.run(count_lines, file.path)
            except OSError as raised:
                error = str(raised)
            if file.is_counted:  # It was read to be sent meanwhile.
                continue
            if error:
                self._throttled.error("journal_not_read", file=file.path.name, error=error)
            else:
                self._set_visits(file, visits)

    @property
    def restoring(self) -> bool:
        """Whether batches of earlier processes are not acknowledged yet."""
        return bool(self._closed) and self._closed[0].is_restored

    @property
    def pending(self) -> int:
        """Visits that are not acknowledged, a lower bound while `restoring`. Thread-safe."""
        finished = self._finished  # Read first, so that the result is not negative.
        return self._appended - finished

    @property
    def last_number(self) -> int:
        """Number of the last closed batch, 0 for none."""
        return self._active.number - 1

    @property
    def is_empty(self) -> bool:
        """Whether there are no visits, and the next start will find none."""
        return not (
            self._closed or self._acknowledged or self._active.visits or self._is_unsynced_at_close
        )

    @property
    def open_visits(self) -> int:
        """Visits of the open batch."""
        return self._active.visits

    @property
    def open_rows(self) -> int:
        """Distinct visits of the open batch."""
        return len(self._active.counts or ())

    @property
    def closed_batches(self) -> int:
        """Closed batches that are not acknowledged."""
        return len(self._closed)

    @property
    def is_dirty(self) -> bool:
        """Whether `sync` has something to do: sync to disk, or look for room."""
        return bool(self._unsynced or self._active.unsynced or self._new_names or self._was_full)

    def append(self, *visits: Visit) -> None:
        """Append visits with one write.

        Raises JournalFullError if there is not enough room for all of them.
        """
        data = b"".join(map(self._line_of, visits))
        try:
            written, why = self._write(data)
        except OSError as error:
            written, why = 0, f"The journal cannot be written: {error.strerror}"
        appended = len(visits)
        if written < len(data):
            appended = data.count(b"\n", 0, written)
            visits = visits[:appended]
        active = self._active
        active.visits += appended
        self._appended += appended
        assert active.counts is not None
        counts = active.counts
        for visit in visits:
            counts[visit] = counts.get(visit, 0) + 1
        if written < len(data):
            self._was_full = True
            raise JournalFullError(why, appended)

    async def has_room(self) -> bool:
        """Whether there is room for the longest possible visit."""
        await self._look_for_room()
        return self.size + lines.MAX_BYTES <= self.limit

    def close_batch(self) -> None:
        """Close the open batch, to be sent after the next `sync`, and begin the next one.

        Raises OSError, and then the batch stays open.
        """
        file = self._active
        self._active = self._begin(file.number + 1)
        if len(self._closed) >= _MAX_BATCHES_IN_MEMORY:
            file.counts = None
        self._closed.append(file)
        self._unsynced.append(file)

    async def first_batch(self) -> Batch | None:
        """Return the oldest closed batch, None if there is none or it is not synced.

        So a number that analytics has seen never stands for other visits after a power cut. Raises
        OSError.
        """
        if not self._closed:
            return None
        file = self._closed[0]
        if file.counts is None or not file.is_synced:
            if not (file.is_synced or file.is_restored):
                return None
            await self._load(file)
        assert file.counts is not None
        rows, visitors = await merge_visitors(file.counts)
        is_divided = file.version == DIVIDED
        return Batch(file.gateway_id, file.number, rows, file.visits, visitors, is_divided)

    async def acknowledge(self, number: int) -> None:
        """Remove the oldest batch, which analytics has acknowledged."""
        if not self._closed or self._closed[0].number != number:
            raise ValueError(f"batch {number} is not the oldest")
        file = self._closed.popleft()
        self._finished += file.visits
        self._acknowledged.append(file)
        await self._remove_acknowledged()

    async def sync(self) -> None:
        """Wait until everything appended so far is on disk. Raises OSError."""
        self._was_full = False
        await self._look_for_room()
        await self._remove_acknowledged()
        closed = list(self._unsynced)
        for file in (*closed, self._active):
            if file.unsynced:
                await self._sync(file)
        await self._sync_names()
        for file in closed:
            self._unsynced.popleft()
            os.close(file.fd)
            file.is_synced = True

    async def close(self) -> None:
        """Sync, if possible, and release the folder."""
        self._new_names.append(self._active.path)  # Also syncs removals.
        try:
            await self.sync()
        except OSError as error:
            self._is_unsynced_at_close = True
            self._throttled.error("journal_not_synced", error=str(error))
        await self._folder.close()
        for file in (*self._unsynced, self._active):
            os.close(file.fd)

    def _begin(self, number: int) -> BatchFile:
        """Create the file of the next batch. Raises OSError."""
        version = self._next_version()
        path = self._folder.path / f"{number:010d}-{self.gateway_id}.v{version}"
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            fd = os.open(path, flags, 0o600)
        except FileNotFoundError:  # Somebody removed the folder.
            self._folder.renew()
            fd = os.open(path, flags, 0o600)
        self._new_names.append(path)
        return BatchFile(path, number, self.gateway_id, version, counts={}, fd=fd)

    def _next_version(self) -> int:
        return DIVIDED if self._divides() else WHOLE

    def _write(self, data: bytes) -> tuple[int, str]:
        """Write as many lines as there is room for. Returns their bytes, and why not all."""
        active = self._active
        why = "The journal or its disk has no room."
        if self._unsynced_bytes + len(data) > MAX_UNSYNCED_BYTES:
            return 0, "The disk of the journal does not keep up."
        room = self.limit - self.size
        if len(data) > room:
            data = _whole_lines(data, max(0, room))
        written = os.pwrite(active.fd, data, active.size) if data else 0
        if written < len(data):  # The disk is full.
            data = _whole_lines(data, written)
            written = len(data)
            os.ftruncate(active.fd, active.size + written)
        if written:
            active.size += written
            active.unsynced.append(data)
            self.size += written
            self._unsynced_bytes += written
        return written, why

    async def _look_for_room(self) -> None:
        free = await asyncio.to_thread(self._folder.free_bytes)
        self.limit = max(0, min(self._max_bytes, self.size + free - HEADROOM))

    async def _sync(self, file: BatchFile) -> None:
        """Sync a file to disk. After a failed sync, rewrite what may not be on disk."""
        chunks, file.unsynced = file.unsynced, []
        size = file.size
        again = b"".join(chunks) if file.is_suspect else b""
        file.is_suspect = True
        try:
            await self._folder.run(sync_file, file.fd, file.synced, again)
        except BaseException:
            file.unsynced = [*chunks, *file.unsynced]
            raise
        file.is_suspect = False
        self._unsynced_bytes -= size - file.synced
        file.synced = size

    async def _sync_names(self) -> None:
        """Sync the names of new files to disk. After a failed sync, recreate them before."""
        names, self._new_names = self._new_names, []
        suspect, self._suspect_names = self._suspect_names, names
        try:
            if names:
                await self._folder.run(self._folder.sync, suspect)
        except BaseException:
            self._new_names = [*names, *self._new_names]
            raise
        self._suspect_names = []

    async def _load(self, file: BatchFile) -> None:
        """Read the visits of a file into memory, and sync a file of an earlier process before."""
        try:
            if not file.is_synced:
                again, file.is_suspect = file.is_suspect, True
                await self._folder.run(sync_path, file.path, again)
                file.is_synced, file.is_suspect = True, False
            counts, lost = await read_file(file.path)
        except FileNotFoundError:
            file.is_synced = True
            counts, lost = {}, file.visits
        self._set_visits(file, sum(counts.values()))
        if lost:
            self.lost_lines += lost
            log.warning("journal_visits_unreadable", file=file.path.name, visits=lost)
        file.counts = counts

    def _set_visits(self, file: BatchFile, visits: int) -> None:
        self._appended += max(0, visits - file.visits)
        self._finished += max(0, file.visits - visits)
        file.visits = visits
        file.is_counted = True

    async def _remove_acknowledged(self) -> None:
        while self._acknowledged:
            file = self._acknowledged.popleft()
            try:
                await self._folder.run(file.path.unlink, missing_ok=True)
            except OSError as error:  # The next call tries again.
                self._acknowledged.appendleft(file)
                self._throttled.error("journal_not_removed", file=file.path.name, error=str(error))
                return
            except BaseException:
                self._acknowledged.appendleft(file)
                raise
            self.size -= file.size


def _whole_lines(data: bytes, size: int) -> bytes:
    """Return the complete lines within the first `size` bytes."""
    return data[: data.rfind(b"\n", 0, size) + 1]
