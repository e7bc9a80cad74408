"""The visit journal: a write-ahead log. Each visit is on file before its response leaves.

The journal is a folder with one file for each batch that analytics has not acknowledged. The name
of a file is the identity of its batch: the batch number and the gateway id. A file holds one line
for each visit (`lines`). Visits are appended to the newest file, each time with one pwrite(2), so
they survive the death of the process. `sync` makes them survive a power cut.

`close_batch` begins the next file. A batch is sent only after it was closed and synced, so that a
resend is the same batch, and its file is removed once it is acknowledged. The newest file is not a
closed batch and always stays, so numbers never repeat. A start takes every file for a closed batch
and begins a file of its own. If a later version of Atajo left files, it also takes a new id:
analytics would refuse their numbers once it has higher ones of the same gateway.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path

from gateway.visits.journal import lines
from gateway.visits.journal.batch import Batch, merge_visitors
from gateway.visits.journal.folder import Folder
from gateway.visits.journal.lines import Counts, Visit
from services.shared.observability import logs

log = logs.get(__name__)

VERSION = 1
"""Version of the file format: the number in the suffix of a file's name. Raise it when an earlier
Atajo would misread the lines."""
HEADROOM = 256 << 10
"""Bytes of the disk that are left free, so that the next file can be created."""
MAX_UNSYNCED_BYTES = 32 << 20
"""Maximum bytes that are not on disk yet. Memory holds a copy of them."""
_MAX_BATCHES_IN_MEMORY = 8
"""Batches whose visits stay in memory. Later ones are read back from their files."""
_COUNTED_BYTES = 1 << 20
"""Bytes that are read at a time to count lines."""
_NAME = re.compile(r"([0-9]{10})-([0-9a-f]{32})\.v([0-9]{1,9})")


class JournalFullError(Exception):
    """The journal or its disk has no room. The first `appended` visits are on file."""

    def __init__(self, why: str, appended: int = 0) -> None:
        super().__init__(why)
        self.appended = appended


@dataclass(slots=True)
class _File:
    """The file of one batch, open for appending or closed."""

    path: Path
    number: int
    gateway_id: str
    size: int = 0
    visits: int = 0
    counts: Counts | None = None
    """Its visits, None unless they are in memory."""
    is_restored: bool = False
    """Whether an earlier run wrote it."""
    is_counted: bool = True
    """Whether `visits` is known."""
    is_synced: bool = False
    """Whether it is closed and on disk, with its name and that of the next file."""
    fd: int = -1
    synced: int = 0
    """Bytes that are known to be on disk, of a file that this run wrote."""
    unsynced: list[bytes] = field(default_factory=list)
    """What was written behind them."""
    is_suspect: bool = False
    """Whether a sync failed, or its outcome is not known. The kernel reports a failed sync once and
    may mark the pages clean, so that the next sync succeeds without writing them."""


class Journal:
    """The visits of one gateway that analytics has not acknowledged.

    Appending never waits for the disk. `sync` does, in a thread. All methods belong to one event
    loop. `room` is the maximum number of bytes on file. Raises JournalInUseError, JournalFullError
    if there is no room for a new journal, and OSError.
    """

    def __init__(self, folder: Path, room: int) -> None:
        self._folder = Folder(folder)
        self._room = self._limit = room
        self._line_of = lines.VisitLines().__getitem__
        found, later = _found_in(folder)
        self._closed = deque(found)
        self._unsynced: deque[_File] = deque()
        self._acknowledged: deque[_File] = deque()
        self._size = sum(file.size for file in self._closed)
        self._unsynced_bytes = 0
        self._was_refused = self._is_unsure = False
        self._new_names: list[Path] = []
        self._suspect_names: list[Path] = []
        # Numbers that only grow: any thread may read a difference of them.
        self._taken = self._gone = 0
        self._throttled = logs.Throttled(__name__)
        self.lost_lines = 0
        """Visits that were on file and cannot be read."""
        newest = found[-1] if found else None
        if newest and newest.gateway_id not in later:
            self.gateway_id = newest.gateway_id
        else:
            self.gateway_id = secrets.token_hex(16)
            if not newest and self._folder.free_bytes() < lines.MAX_BYTES:
                raise JournalFullError("its disk has no room to begin it")
        number = newest.number + 1 if newest else 1
        if newest and not newest.size and newest.gateway_id == self.gateway_id:
            number = self._closed.pop().number  # It was never sent.
        self._active = self._begin(number)
        self._folder.sync()
        self._new_names.clear()

    async def count_restored(self) -> None:
        """Count the visits of earlier runs. They are sent whether they were counted or not."""
        for file in [file for file in self._closed if not file.is_counted]:
            visits, error = 0, ""
            try:
                visits = await self._folder.run(_count_lines, file.path)
            except OSError as raised:
                error = str(raised)
            if file.is_counted:  # It was read to be sent meanwhile, or even acknowledged.
                continue
            if error:
                self._throttled.error("journal_not_read", file=file.path.name, error=error)
            else:
                self._set_visits(file, visits)

    @property
    def restoring(self) -> bool:
        """Whether batches of earlier runs wait for their acknowledgement."""
        return bool(self._closed) and self._closed[0].is_restored

    @property
    def pending(self) -> int:
        """Visits that are not acknowledged; at least so many while `restoring`. Thread-safe."""
        gone = self._gone
        return self._taken - gone

    @property
    def size(self) -> int:
        """Bytes on file."""
        return self._size

    @property
    def limit(self) -> int:
        """Maximum bytes on file: the room, or less if the disk leaves less."""
        return self._limit

    @property
    def last_number(self) -> int:
        """Number of the last batch that was closed, 0 for none."""
        return self._active.number - 1

    @property
    def is_empty(self) -> bool:
        """Whether nothing waits, and the next start will find nothing."""
        return not (self._closed or self._acknowledged or self._active.visits or self._is_unsure)

    @property
    def open_visits(self) -> int:
        """Visits that belong to no closed batch."""
        return self._active.visits

    @property
    def open_rows(self) -> int:
        """Different visits among them."""
        return len(self._active.counts or ())

    @property
    def closed_batches(self) -> int:
        """Closed batches that wait for their acknowledgement."""
        return len(self._closed)

    @property
    def is_dirty(self) -> bool:
        """Whether `sync` has something to do: write to disk, or look for room."""
        return bool(self._unsynced or self._active.unsynced or self._new_names or self._was_refused)

    def append(self, *visits: Visit) -> None:
        """Put visits on file with one write.

        Raises JournalFullError if there is room for only a part of them, or for none.
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
        self._taken += appended
        assert active.counts is not None
        counts = active.counts
        for visit in visits:
            counts[visit] = counts.get(visit, 0) + 1
        if written < len(data):
            self._was_refused = True
            raise JournalFullError(why, appended)

    async def has_room(self) -> bool:
        """Whether the longest possible visit would be put on file."""
        await self._look_for_room()
        return self._size + lines.MAX_BYTES <= self._limit

    def close_batch(self) -> None:
        """Close the batch of the open visits, to be sent after the next `sync`. Raises OSError.

        After an error the visits stay open.
        """
        file = self._active
        self._active = self._begin(file.number + 1)
        if len(self._closed) >= _MAX_BATCHES_IN_MEMORY:
            file.counts = None
        self._closed.append(file)
        self._unsynced.append(file)

    async def first_batch(self) -> Batch | None:
        """The oldest closed batch, None if there is none or it is not synced.

        After a power cut, a number that analytics has seen thus never stands for other visits.
        Raises OSError.
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
        return Batch(file.gateway_id, file.number, rows, file.visits, visitors)

    async def acknowledge(self, number: int) -> None:
        """Remove the oldest batch, which analytics has."""
        if not self._closed or self._closed[0].number != number:
            raise ValueError(f"batch {number} is not the oldest")
        file = self._closed.popleft()
        self._gone += file.visits
        self._acknowledged.append(file)
        await self._remove_acknowledged()

    async def sync(self) -> None:
        """Wait until everything that was appended before is on disk. Raises OSError."""
        self._was_refused = False
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
        """Sync, if the disk lets us, and release the folder."""
        self._new_names.append(self._active.path)  # So that removals are on disk, too.
        try:
            await self.sync()
        except OSError as error:
            self._is_unsure = True
            self._throttled.error("journal_not_synced", error=str(error))
        await self._folder.close()
        for file in (*self._unsynced, self._active):
            os.close(file.fd)

    def _begin(self, number: int) -> _File:
        """Create the file of the next batch. Raises OSError."""
        path = self._folder.path / f"{number:010d}-{self.gateway_id}.v{VERSION}"
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            fd = os.open(path, flags, 0o600)
        except FileNotFoundError:  # Somebody removed the folder.
            self._folder.renew()
            fd = os.open(path, flags, 0o600)
        self._new_names.append(path)
        return _File(path, number, self.gateway_id, counts={}, fd=fd)

    def _write(self, data: bytes) -> tuple[int, str]:
        """Write the whole lines that there is room for; returns their bytes, and why not all."""
        active = self._active
        why = "The journal or its disk has no room."
        if self._unsynced_bytes + len(data) > MAX_UNSYNCED_BYTES:
            return 0, "The disk of the journal does not keep up."
        room = self._limit - self._size
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
            self._size += written
            self._unsynced_bytes += written
        return written, why

    async def _look_for_room(self) -> None:
        free = await asyncio.to_thread(self._folder.free_bytes)
        self._limit = max(0, min(self._room, self._size + free - HEADROOM))

    async def _sync(self, file: _File) -> None:
        """Bring a file to disk. After a failed sync, write again what may not be on disk."""
        chunks, file.unsynced = file.unsynced, []
        size = file.size
        again = b"".join(chunks) if file.is_suspect else b""
        file.is_suspect = True
        try:
            await self._folder.run(_sync_file, file.fd, file.synced, again)
        except BaseException:
            file.unsynced = [*chunks, *file.unsynced]
            raise
        file.is_suspect = False
        self._unsynced_bytes -= size - file.synced
        file.synced = size

    async def _sync_names(self) -> None:
        """Bring the names of new files to disk. After a failed sync, make them anew before."""
        names, self._new_names = self._new_names, []
        suspect, self._suspect_names = self._suspect_names, names
        try:
            if names:
                await self._folder.run(self._folder.sync, suspect)
        except BaseException:
            self._new_names = [*names, *self._new_names]
            raise
        self._suspect_names = []

    async def _load(self, file: _File) -> None:
        """Read the visits of a file into memory; of an earlier run, after it is on disk."""
        try:
            if not file.is_synced:
                again, file.is_suspect = file.is_suspect, True
                await self._folder.run(_sync_path, file.path, again)
                file.is_synced, file.is_suspect = True, False
            counts, lost = await _read(file.path)
        except FileNotFoundError:
            file.is_synced = True
            counts, lost = {}, file.visits
        self._set_visits(file, sum(counts.values()))
        if lost:
            self.lost_lines += lost
            log.warning("journal_visits_unreadable", file=file.path.name, visits=lost)
        file.counts = counts

    def _set_visits(self, file: _File, visits: int) -> None:
        self._taken += max(0, visits - file.visits)
        self._gone += max(0, file.visits - visits)
        file.visits = visits
        file.is_counted = True

    async def _remove_acknowledged(self) -> None:
        while self._acknowledged:
            file = self._acknowledged.popleft()
            try:
                await self._folder.run(file.path.unlink, missing_ok=True)
            except OSError as error:  # Tried again by the next call.
                self._acknowledged.appendleft(file)
                self._throttled.error("journal_not_removed", file=file.path.name, error=str(error))
                return
            except BaseException:
                self._acknowledged.appendleft(file)
                raise
            self._size -= file.size


def _found_in(folder: Path) -> tuple[list[_File], set[str]]:
    """The files of a folder, oldest first, and the gateway ids of files of a later version.

    Those are left as they are, for a gateway of that version. Raises OSError.
    """
    found: list[_File] = []
    later: set[str] = set()
    for path in folder.iterdir():
        if named := _NAME.fullmatch(path.name):
            number, gateway_id, version = int(named[1]), named[2], int(named[3])
            if version > VERSION:
                log.warning("journal_file_of_later_version", file=path.name)
                later.add(gateway_id)
                continue
            size = path.stat().st_size
            found.append(_File(path, number, gateway_id, size, is_restored=True, is_counted=False))
    return sorted(found, key=lambda file: file.number), later


def _whole_lines(data: bytes, size: int) -> bytes:
    """The whole lines among the first `size` bytes."""
    return data[: data.rfind(b"\n", 0, size) + 1]


def _count_lines(path: Path) -> int:
    count = 0
    with path.open("rb", buffering=0) as file:
        while data := file.read(_COUNTED_BYTES):
            count += data.count(b"\n")
    return count


def _sync_file(fd: int, start: int, again: bytes) -> None:
    """Write bytes at `start` again, if there are any, and bring the file to disk."""
    while again:
        written = os.pwrite(fd, again, start)
        start, again = start + written, again[written:]
    os.fdatasync(fd)


def _sync_path(path: Path, again: bool) -> None:
    """Bring a file to disk, written again before if a sync failed."""
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        _sync_file(fd, 0, path.read_bytes() if again else b"")
    finally:
        os.close(fd)


async def _read(path: Path) -> tuple[Counts, int]:
    """The visits of a file, and how many of its lines cannot be read. Raises OSError.

    An unfinished last line is neither: its response never left.
    """
    counts: Counts = {}
    lost = 0
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        async for text in lines.slices(fd):
            # Equal lines are counted first, because parsing costs most.
            for line, count in Counter(text.split(b"\n")).items():
                if visit := lines.visit_of(line):
                    counts[visit] = counts.get(visit, 0) + count
                else:
                    lost += count
    finally:
        os.close(fd)
    return counts, lost
