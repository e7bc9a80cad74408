"""The gateway's journal: every visit is on file before its answer leaves.

A folder of segments, each a text file of lines (`lines`). A batch lies in one segment. A segment
whose batches were all acknowledged is removed once its successor, whose first line carries the
numbering on, is on disk. Appending is one write(2): what it returned survives the death of the
process. `sync` makes it survive a power cut.

A start goes on in a segment of its own and reads older ones back while it serves (`restore`).
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from gateway.visits import lines, segments
from gateway.visits.ledger import Batch, Entry, Ledger
from gateway.visits.lines import Counts, Visit
from gateway.visits.restore import Restore
from services.runtime import background, logs

log = logs.get(__name__)

SEGMENT_BYTES = 4 << 20
"""A segment past this size ends with its next batch."""
HEADROOM = 256 << 10
"""Bytes of the disk that visits leave to the lines by which room is won back."""
_LEAST_BYTES = 64 << 10
"""A segment below this size is not worth to be given up for its room."""
_KEPT_BYTES = 16 << 20
"""Bytes that ready-made lines for visits that are alike may take."""
_KEPT_ENTRY_BYTES = 300
"""What keeping a line takes beside its text and that of its visit: objects and the table's row."""
_LONG_TO_REMOVE = 32 << 20
"""A larger file is removed in a thread: 1 GiB takes a disk's file system 100 ms."""
_AGAIN_SECONDS = 10.0
"""Pause before a file that the disk did not give is read again."""


class JournalInUseError(Exception):
    """Another process holds the folder."""


class JournalFullError(Exception):
    """The journal has no room, or its disk has none."""


class Journal:
    """One gateway's visits that analytics has not acknowledged yet.

    Appending never waits for the disk; `sync` does, in a thread. All methods belong to one
    event loop. Raises OSError when the folder cannot be used at all.
    """

    def __init__(self, folder: Path, room: int, segment_bytes: int = SEGMENT_BYTES) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._room = room
        self._limit = room
        self._refused = False
        # Room is won back by whole segments.
        self._segment_bytes = min(segment_bytes, room // 4)
        self._lock = _lock(folder)
        self._open: Counts = {}
        self._open_start = 0
        # Numbers that only grow: any thread may read a difference of them.
        self._taken = 0
        self._closed = 0
        self._lines: dict[Visit, bytes] = {}
        self._lines_bytes = 0
        self._unnoted = False
        self._dirty = False
        self._fd = -1
        self._carrier: Path | None = None
        """The newest segment whose first line is on disk: it carries the numbering on."""
        self._next: tuple[Path, int] | None = None
        self._removal: asyncio.Task[None] | None = None
        self._throttled = logs.Throttled(__name__)
        self._retired: list[int] = []
        self._old = segments.found_in(folder)
        self._reading = self._old[0] if self._old else None
        self._sizes = {path: path.stat().st_size for path in self._old}
        self._size = sum(self._sizes.values())
        start = segments.start_of(self._old)
        self.gateway_id = start.gateway_id or secrets.token_hex(16)
        self._next_number = start.number
        self._synced_number = start.number - 1
        position = segments.position_of(self._old[-1]) + 1 if self._old else 1
        self._segment = segments.path_of(folder, position)
        self._begun = asyncio.Event()
        self._ledger = Ledger(start.acknowledged, restoring=bool(self._old))
        self._restore = Restore(self._old, start.number, self._begun, self._ledger)
        self._begin()
        if self._fd >= 0:
            os.fdatasync(self._fd)
            self._dirty = False
            self._header_is_on_disk()
        elif start.newest is None:
            raise JournalFullError("its disk has no room to begin it")
        else:  # What is sent of the older ones makes the room.
            segments.sync(start.newest)
            self._carrier = start.newest

    async def restore(self, changed: Callable[[], object] | None = None) -> None:
        """Read back what earlier runs left, while the journal is in use. Call once.

        `changed` is called whenever a batch was found, and at the end.
        """
        if changed:
            self._restore.changed = changed
        for path, following in zip(self._old, [*self._old[1:], None], strict=False):
            left = await self._restore_segment(path)
            self._size += left - self._sizes[path]
            self._sizes[path] = left
            self._reading = following  # Before segments go: this one is not read yet.
            self._drop_segments()
        self._ledger.restoring = False
        self._drop_segments()
        self._restore.changed()

    async def _restore_segment(self, path: Path) -> int:
        while True:
            try:
                return await self._restore.read(path)
            except OSError as error:  # What waits behind it has higher numbers and waits, too.
                missing = isinstance(error, FileNotFoundError)
                if missing and not await asyncio.to_thread(path.exists):
                    log.error("journal_segment_gone", segment=path.name)
                    return 0
                log.error("journal_not_read", segment=path.name, error=error.strerror)
            await asyncio.sleep(_AGAIN_SECONDS)

    @property
    def lost_lines(self) -> int:
        """Lines of earlier runs that could not be read back."""
        return self._restore.lost

    @property
    def restoring(self) -> bool:
        """Whether segments of earlier runs are still to be read: what is told of them grows."""
        return self._ledger.restoring

    @property
    def pending(self) -> int:
        """Visits that are not acknowledged; at least so many while `restoring`.

        For any thread to ask.
        """
        return self._ledger.visits + self.open_visits

    @property
    def size(self) -> int:
        """Bytes on file."""
        return self._size

    @property
    def limit(self) -> int:
        """Bytes that may be on file: its room, or what the disk left when it was last looked at."""
        return self._limit

    @property
    def last_number(self) -> int:
        """Number of the last batch that was closed, 0 for none."""
        return self._next_number - 1

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits, and who reads the files anew will find so."""
        return not self.restoring and not self.pending and not self._unnoted

    @property
    def open_visits(self) -> int:
        """Visits that belong to no batch yet."""
        closed = self._closed
        return self._taken - closed

    @property
    def open_rows(self) -> int:
        """Different visits among them."""
        return len(self._open)

    @property
    def restored_batches(self) -> int:
        """Batches of earlier runs that wait for their acknowledgement, as far as they were read."""
        return len(self._ledger.restored)

    @property
    def added_batches(self) -> int:
        """Batches of this run that wait for their acknowledgement."""
        return len(self._ledger.added)

    @property
    def dirty(self) -> bool:
        """Whether there is something for `sync` to do: bring to disk, look for room, or begin."""
        return self._dirty or self._refused or self._fd < 0

    def append(self, visit: Visit) -> None:
        """Put a visit on file. Raises JournalFullError, and then nothing was appended."""
        line = self._lines.get(visit)
        if line is None:
            line = lines.of_visit(visit)
            self._lines_bytes += _KEPT_ENTRY_BYTES + 2 * len(line)
            if self._lines_bytes > _KEPT_BYTES:
                self._lines.clear()
                self._lines_bytes = _KEPT_ENTRY_BYTES + 2 * len(line)
            self._lines[visit] = line
        if self._size + len(line) > self._limit:
            self._refused = True
            raise JournalFullError("The journal or its disk has no room.")
        try:
            self._write(line)
        except JournalFullError:
            self._refused = True
            raise
        self._open[visit] = self._open.get(visit, 0) + 1
        self._taken += 1

    async def has_room(self) -> bool:
        """Whether the longest visit there can be would be put on file."""
        await self._look_for_room()
        return self._fd >= 0 and self._size + lines.LONGEST_BYTES <= self._limit

    def close_batch(self) -> None:
        """Make a batch of the visits that are in none. It may be sent after the next `sync`.

        Raises JournalFullError, and then the visits wait for the next time.
        """
        end = self._sizes.get(self._segment, 0)
        visits = self.open_visits
        self._write(lines.line(f"b {self._next_number} {visits}"))
        self._ledger.add(
            Entry(self._next_number, visits, self._segment, self._open_start, end, self._open)
        )
        self._next_number += 1
        self._open = {}
        self._closed += visits
        self._open_start = self._sizes[self._segment]
        if self._next is not None:
            self._begin_segment(*self._next)
            self._next = None

    async def first_batch(self) -> Batch | None:
        """The oldest batch that is not acknowledged, None while its end is not on disk.

        A number that analytics has seen can thus never stand for other visits after a power cut.
        While `restoring`, None may also say that the oldest was not read back yet. Raises OSError.
        """
        entry = self._ledger.first
        if entry is None or entry.number > self._synced_number:
            return None
        counts = await entry.read()
        return Batch(self.gateway_id, entry.number, counts, entry.visits)

    def acknowledge(self, number: int) -> None:
        """Note that analytics has the oldest batch, and drop segments nobody needs."""
        if number <= self._ledger.acknowledged:  # Its note was read back while it was sent again.
            return
        entry = self._ledger.first
        if entry is None or entry.number != number:
            raise ValueError(f"batch {number} is not the oldest")
        self._ledger.acknowledge(number)
        try:
            self._write(lines.line(f"a {number}"))
            self._unnoted = False
        except JournalFullError:  # After a restart the batch is sent again: that changes nothing.
            self._unnoted = True
        self._drop_segments()

    async def sync(self) -> None:
        """Wait until all that was appended before is on disk. Raises OSError."""
        refused, self._refused = self._refused, False
        free = await self._look_for_room()
        if self._fd < 0 and free >= lines.LONGEST_BYTES:
            self._begin()
        if self._fd < 0:
            return
        segment, retired, self._retired = self._segment, self._retired, []
        last_number = self._next_number - 1
        self._dirty = False
        try:
            for fd in (*retired, self._fd):
                await asyncio.to_thread(os.fdatasync, fd)
        except BaseException:  # Nor is anything forgotten where it is cancelled.
            self._dirty = True
            self._retired = [*retired, *self._retired]
            raise
        for fd in retired:
            os.close(fd)
        self._synced_number = last_number
        if segment == self._segment:
            self._header_is_on_disk()
        size = self._sizes[self._segment]
        # A disk that is nearly full leaves less room than was meant: shorter segments, then.
        long = min(self._segment_bytes, max(self._limit // 4, _LEAST_BYTES))
        worn = size >= long or (refused and size > _LEAST_BYTES)
        if worn and self._next is None:
            path = segments.path_of(self._folder, segments.position_of(self._segment) + 1)
            self._next = path, await asyncio.to_thread(segments.create, path)
        if refused and self._next is not None and not self.open_visits:
            self._begin_segment(*self._next)
            self._next = None

    async def close(self) -> None:
        """Sync, where the disk lets us, and give the folder back."""
        try:
            await self.sync()
        except OSError:
            self._unnoted = True
        while self._removal:
            await asyncio.wait([self._removal])
        if self._next is not None:
            path, fd = self._next
            os.close(fd)
            path.unlink(missing_ok=True)
        if self._fd >= 0:
            os.close(self._fd)
        os.close(self._lock)

    async def _look_for_room(self) -> int:
        """Note how much there may be on file; returns what the disk has left, headroom included."""
        free = await asyncio.to_thread(_free_bytes, self._lock)
        self._limit = max(0, min(self._room, self._size + free - HEADROOM))
        return free

    def _write(self, line: bytes) -> None:
        """Append a line whole or not at all."""
        if self._fd < 0:
            raise JournalFullError("The journal's disk had no room to begin.")
        size = self._sizes[self._segment]
        try:
            written = os.write(self._fd, line)
            if written != len(line):
                os.ftruncate(self._fd, size)
                raise JournalFullError("The disk of the journal is full.")
        except OSError as error:
            raise JournalFullError(f"The journal cannot be written: {error.strerror}") from error
        self._sizes[self._segment] = size + written
        self._size += written
        self._dirty = True

    def _begin(self) -> None:
        """Begin the segment of this run, where its disk has room. Raises OSError."""
        try:
            fd = segments.create(self._segment)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            self._throttled.warning("journal_segment_not_started", error=error.strerror)
            return
        self._begin_segment(self._segment, fd)

    def _begin_segment(self, path: Path, fd: int) -> None:
        """Go on in a fresh file, whose first line carries the numbering on."""
        header = lines.line(f"h {self.gateway_id} {self._next_number}")
        try:
            if os.write(fd, header) != len(header):
                raise OSError(errno.ENOSPC, "the disk is full")
        except OSError as error:
            self._throttled.warning("journal_segment_not_started", error=error.strerror)
            os.close(fd)
            path.unlink()
            return
        if self._fd >= 0:
            self._retired.append(self._fd)
        self._fd = fd
        self._segment = path
        self._sizes[path] = len(header)
        self._size += len(header)
        self._open_start = len(header)
        self._dirty = True

    def _header_is_on_disk(self) -> None:
        """Rely on the first line of the segment in use."""
        self._carrier = self._segment
        self._begun.set()
        self._drop_segments()

    def _drop_segments(self) -> None:
        """Remove what is before the oldest batch needed and before what carries the numbering on.

        From the oldest on, each once the one before it is gone: where a segment is spoilt, the one
        before it tells which numbers it may have used, and where one is missing, what is read
        before it may be given other numbers than it had.
        """
        if self._carrier is None:
            return
        oldest = self._ledger.oldest
        needed = (oldest.segment if oldest else None, self._reading, self._carrier)
        while not self._removal and (segment := next(iter(self._sizes))) not in needed:
            if self._sizes[segment] > _LONG_TO_REMOVE:
                self._removal = background.run(self._remove_long(segment), "journal_remove")
                return
            try:
                segment.unlink(missing_ok=True)
            except OSError as error:
                self._not_removed(segment, error)
                return
            self._size -= self._sizes.pop(segment)

    async def _remove_long(self, segment: Path) -> None:
        try:
            await asyncio.to_thread(segment.unlink, missing_ok=True)
        except OSError as error:
            self._not_removed(segment, error)
            return
        finally:
            self._removal = None
        self._size -= self._sizes.pop(segment)
        self._drop_segments()

    def _not_removed(self, segment: Path, error: OSError) -> None:
        """It is tried again at the next acknowledgement or sync."""
        self._throttled.error("journal_not_removed", segment=segment.name, error=error.strerror)


def _lock(folder: Path) -> int:
    fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise JournalInUseError(f"The journal {folder} is in use by another process.") from None
    return fd


def _free_bytes(fd: int) -> int:
    """What the disk that a file is on has left for us."""
    disk = os.fstatvfs(fd)
    return disk.f_bavail * disk.f_frsize
