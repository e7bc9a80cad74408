"""The gateway's journal: every visit is on file before its answer leaves.

A folder of segments, each a text file of lines `<crc32> <kind> <fields>`:

    h  gateway id, number of the next batch     first line of every segment
    v  code, hour, kind, referrer host          one visit
    b  number, count                            the visits since the last `b` are batch `number`
    a  number                                   the analytics service has batch `number`

A batch lies in one segment. A segment whose batches were all acknowledged is removed once its
successor, whose first line carries the numbering on, is on disk. Appending is one write(2):
what it returned survives the death of the process. `sync` makes it survive a power cut.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import secrets
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gateway.visits.classify import Kind
from services.runtime import logs

log = logs.get(__name__)

SEGMENT_BYTES = 4 << 20
"""A segment past this size ends with its next batch."""
HEADROOM = 256 << 10
"""Bytes of the disk that visits leave to the lines by which room is won back."""
_SUFFIX = ".journal"
_KINDS: dict[bytes, Kind] = {b"p": "person", b"b": "bot"}
_LEAST_BYTES = 64 << 10
"""A segment below this size is not worth to be given up for its room."""
_FRAME = 10
"""Bytes of a line beside its body: checksum, blank and line end."""
_LONGEST_LINE = 300
"""Bytes of a visit whose referrer has the longest name that a host can have."""
_KEPT_LINES = 65_536
"""Ready-made lines kept for visits that are alike."""
_KEPT_IN_MEMORY = 8
"""Closed batches whose visits stay in memory; those behind them are read back from file."""


class Visit(NamedTuple):
    """What is kept of a visit. `hour` is in whole UTC hours since the Unix epoch."""

    code: str
    hour: int
    kind: Kind
    referrer_host: str


Counts = dict[Visit, int]


@dataclass(frozen=True, slots=True)
class Batch:
    """Visits under one number, always the same ones."""

    gateway_id: str
    number: int
    counts: Counts
    visits: int


@dataclass(slots=True)
class _Closed:
    """A batch that is not acknowledged yet, and where its visits stand."""

    number: int
    visits: int
    segment: Path
    start: int
    end: int
    counts: Counts | None


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
        self.gateway_id = ""
        self.lost_lines = 0
        """Lines that were on file but could not be read back at start."""
        self._next_number = 1
        self._synced_number = 0
        self._closed: deque[_Closed] = deque()
        self._closed_visits = 0
        self._unnoted = False
        self._open: Counts = {}
        self._open_visits = 0
        self._open_start = 0
        self._lines: dict[Visit, bytes] = {}
        self._sizes: dict[Path, int] = {}
        self._size = 0
        self._dirty = False
        self._fd = -1
        self._segment = folder
        self._header_synced = False
        self._next: tuple[Path, int] | None = None
        self._retired: list[int] = []
        self._restore()

    @property
    def pending(self) -> int:
        """Visits that are not acknowledged."""
        return self._open_visits + self._closed_visits

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
        return not self.pending and not self._unnoted

    @property
    def open_visits(self) -> int:
        """Visits that belong to no batch yet."""
        return self._open_visits

    @property
    def open_rows(self) -> int:
        """Different visits among them."""
        return len(self._open)

    @property
    def batches(self) -> int:
        """Closed batches that wait for their acknowledgement."""
        return len(self._closed)

    @property
    def dirty(self) -> bool:
        """Whether there is something for `sync` to do: bring to disk, or look for room."""
        return self._dirty or self._refused

    def append(self, visit: Visit) -> None:
        """Put a visit on file. Raises JournalFullError, and then nothing was appended."""
        line = self._lines.get(visit)
        if line is None:
            if len(self._lines) >= _KEPT_LINES:
                self._lines.clear()
            line = _line(f"v {visit.code} {visit.hour} {visit.kind[0]} {visit.referrer_host}")
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
        self._open_visits += 1

    async def has_room(self) -> bool:
        """Whether the longest visit there can be would be put on file."""
        await self._look_for_room()
        return self._size + _LONGEST_LINE <= self._limit

    def close_batch(self) -> None:
        """Make a batch of the visits that are in none. It may be sent after the next `sync`.

        Raises JournalFullError, and then the visits wait for the next time.
        """
        end = self._sizes[self._segment]
        self._write(_line(f"b {self._next_number} {self._open_visits}"))
        self._take_open(self._segment, self._open_start, end)
        self._open_start = self._sizes[self._segment]
        if self._next is not None:
            self._begin_segment(*self._next)
            self._next = None

    async def first_batch(self) -> Batch | None:
        """The oldest batch that is not acknowledged, None while its end is not on disk.

        A number that analytics has seen can thus never stand for other visits after a power cut.
        """
        if not self._closed or self._closed[0].number > self._synced_number:
            return None
        batch = self._closed[0]
        if batch.counts is None:
            batch.counts = await asyncio.to_thread(_read_counts, batch)
        return Batch(self.gateway_id, batch.number, batch.counts, batch.visits)

    def acknowledge(self, number: int) -> None:
        """Note that analytics has the oldest batch, and drop segments nobody needs."""
        batch = self._closed.popleft()
        if batch.number != number:
            raise ValueError(f"batch {number} is not the oldest, {batch.number} is")
        self._closed_visits -= batch.visits
        try:
            self._write(_line(f"a {number}"))
            self._unnoted = False
        except JournalFullError:  # After a restart the batch is sent again: that changes nothing.
            self._unnoted = True
        self._drop_segments()

    async def sync(self) -> None:
        """Wait until all that was appended before is on disk. Raises OSError."""
        refused, self._refused = self._refused, False
        await self._look_for_room()
        segment, retired, self._retired = self._segment, self._retired, []
        last_number = self._next_number - 1
        self._dirty = False
        try:
            for fd in (*retired, self._fd):
                await asyncio.to_thread(os.fdatasync, fd)
        except OSError:
            self._dirty = True
            self._retired = [*retired, *self._retired]
            raise
        for fd in retired:
            os.close(fd)
        self._synced_number = last_number
        if segment == self._segment:
            self._header_synced = True
            self._drop_segments()
        size = self._sizes[self._segment]
        # A disk that is nearly full leaves less room than was meant: shorter segments, then.
        long = min(self._segment_bytes, max(self._limit // 4, _LEAST_BYTES))
        worn = size >= long or (refused and size > _LEAST_BYTES)
        if worn and self._next is None:
            number = int(self._segment.stem) + 1
            path = self._folder / f"{number:010d}{_SUFFIX}"
            self._next = path, await asyncio.to_thread(_create, path)
        if refused and self._next is not None and not self._open_visits:
            self._begin_segment(*self._next)
            self._next = None

    async def close(self) -> None:
        """Sync, where the disk lets us, and give the folder back."""
        try:
            await self.sync()
        except OSError:
            self._unnoted = True
        if self._next is not None:
            path, fd = self._next
            os.close(fd)
            path.unlink(missing_ok=True)
        os.close(self._fd)
        os.close(self._lock)

    async def _look_for_room(self) -> None:
        free = await asyncio.to_thread(_free_bytes, self._lock)
        self._limit = max(0, min(self._room, self._size + free - HEADROOM))

    def _write(self, line: bytes) -> None:
        """Append a line whole or not at all."""
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

    def _take_open(self, segment: Path, start: int, end: int) -> None:
        """Turn the open visits, which stand at `start` to `end`, into the next batch."""
        keep = len(self._closed) < _KEPT_IN_MEMORY
        self._closed.append(
            _Closed(
                self._next_number,
                self._open_visits,
                segment,
                start,
                end,
                self._open if keep else None,
            )
        )
        self._closed_visits += self._open_visits
        self._next_number += 1
        self._open = {}
        self._open_visits = 0

    def _begin_segment(self, path: Path, fd: int) -> None:
        """Go on in a fresh file, whose first line carries the numbering on."""
        header = _line(f"h {self.gateway_id} {self._next_number}")
        try:
            if os.write(fd, header) != len(header):
                raise OSError(errno.ENOSPC, "the disk is full")
        except OSError as error:
            log.warning("journal_segment_not_started", error=error.strerror)
            os.close(fd)
            path.unlink()
            return
        if self._fd >= 0:
            self._retired.append(self._fd)
        self._fd = fd
        self._segment = path
        self._header_synced = False
        self._sizes[path] = len(header)
        self._size += len(header)
        self._open_start = len(header)
        self._dirty = True

    def _drop_segments(self) -> None:
        """Remove what is behind the oldest batch needed, once the numbering is on disk ahead."""
        if not self._header_synced or len(self._sizes) == 1:
            return
        needed = {closed.segment for closed in self._closed} | {self._segment}
        for segment in [path for path in self._sizes if path not in needed]:
            segment.unlink(missing_ok=True)
            self._size -= self._sizes.pop(segment)

    def _restore(self) -> None:
        """Read the folder back: what is not acknowledged, and where the numbering stands."""
        for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
            self._restore_segment(path)
        if self._fd < 0:
            self.gateway_id = secrets.token_hex(16)
            path = self._folder / f"{1:010d}{_SUFFIX}"
            self._begin_segment(path, _create(path))
            if self._fd < 0:
                raise JournalFullError("its disk has no room to begin it")
        if self._open_visits:
            # Without room for its end the batch waits, as it would have without a restart.
            with contextlib.suppress(JournalFullError):
                self.close_batch()
        os.fdatasync(self._fd)
        self._header_synced = True
        self._synced_number = self._next_number - 1
        self._dirty = False

    def _restore_segment(self, path: Path) -> None:
        data = path.read_bytes()
        good = 0
        for body in _good_lines(data):
            end = good + len(body) + _FRAME
            self._restore_line(path, body, good, end)
            if not self.gateway_id:
                break  # Not a segment: it does not begin with its header.
            good = end
        if good < len(data):
            torn = data.count(b"\n", good) + (not data.endswith(b"\n"))
            self.lost_lines += torn
            # Whole lines may have been the ends of batches that analytics has: spent numbers.
            self._next_number += data.count(b"\n", good)
            log.warning("journal_tail_unreadable", segment=path.name, lines=torn)
        if good == 0:
            path.unlink()
            return
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        os.ftruncate(self._fd, good)
        self._segment = path
        self._sizes[path] = good
        self._size += good

    def _restore_line(self, path: Path, body: bytes, start: int, end: int) -> None:
        kind, *fields = body.split(b" ")
        if kind == b"h":
            if self._open_visits:  # Their batch's end was lost with a part of the file before.
                self.lost_lines += self._open_visits
                self._open, self._open_visits = {}, 0
            self.gateway_id = fields[0].decode()
            self._next_number = int(fields[1])
            self._open_start = end
        elif kind == b"v":
            visit = _visit(fields)
            self._open[visit] = self._open.get(visit, 0) + 1
            self._open_visits += 1
        elif kind == b"b":
            self._next_number = int(fields[0])
            self._take_open(path, self._open_start, start)
            self._open_start = end
        elif kind == b"a":
            while self._closed and self._closed[0].number <= int(fields[0]):
                self._closed_visits -= self._closed.popleft().visits


def _lock(folder: Path) -> int:
    fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise JournalInUseError(f"The journal {folder} is in use by another process.") from None
    return fd


def _line(text: str) -> bytes:
    body = text.encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _good_lines(data: bytes) -> Iterator[bytes]:
    """The bodies of the lines, up to the first that is torn."""
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        checksum, body = data[start : start + 8], data[start + 9 : end]
        if checksum != b"%08x" % zlib.crc32(body):
            return
        yield body
        start = end + 1


def _visit(fields: Sequence[bytes]) -> Visit:
    code, hour, kind, host = fields
    return Visit(code.decode(), int(hour), _KINDS[kind], host.decode())


def _read_counts(batch: _Closed) -> Counts:
    counts: Counts = {}
    with batch.segment.open("rb") as file:
        file.seek(batch.start)
        for body in _good_lines(file.read(batch.end - batch.start)):
            if body[:1] == b"v":
                visit = _visit(body[2:].split(b" "))
                counts[visit] = counts.get(visit, 0) + 1
    return counts


def _free_bytes(fd: int) -> int:
    """What the disk that a file is on has left for us."""
    disk = os.fstatvfs(fd)
    return disk.f_bavail * disk.f_frsize


def _create(path: Path) -> int:
    """An empty file to append to, whose name is on disk."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return fd
