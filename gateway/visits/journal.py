"""The gateway's journal: a write-ahead log of visits. Each is on file before its answer leaves.

A folder of segments, each a text file of lines (`lines`). Visits are appended to the newest
(`active`) and, some times a second, become a batch: its end is a line with its number. A batch lies
in one segment. The `ledger` has the batches that analytics has not acknowledged yet; `retention`
removes the segments that nobody needs. Appending is one write(2): what it returned survives the
death of the process. `sync` makes it survive a power cut.

A start goes on in a segment of its own and reads older ones back while it serves (`restore`).
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from pathlib import Path

from gateway.visits import lines, segments
from gateway.visits.active import ActiveSegment, JournalFullError
from gateway.visits.folder import Folder
from gateway.visits.ledger import Batch, Entry, Ledger, batch_of
from gateway.visits.lines import Counts, Visit
from gateway.visits.restore import Restore
from gateway.visits.retention import Retention

SEGMENT_BYTES = 4 << 20
"""A segment past this size ends with its next batch."""
HEADROOM = 256 << 10
"""Bytes of the disk that visits leave to the lines by which room is won back."""
_LEAST_BYTES = 64 << 10
"""A segment below this size is not worth to be given up for its room."""


class Journal:
    """One gateway's visits that analytics has not acknowledged yet.

    Appending never waits for the disk; `sync` does, in a thread. All methods belong to one event
    loop. `room` is how many bytes may be on file. Raises JournalInUseError, JournalFullError where
    it cannot be begun for want of room, and OSError when the folder cannot be used at all.
    """

    def __init__(self, folder: Path, room: int, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._folder = Folder(folder)
        self._room = room
        self._limit = room
        self._refused = False
        # Room is won back by whole segments.
        self._segment_bytes = min(segment_bytes, room // 4)
        self._lines = lines.VisitLines()
        self._line_of = self._lines.__getitem__
        self._open: Counts = {}
        self._open_start = 0
        # Numbers that only grow: any thread may read a difference of them.
        self._taken = 0
        self._closed = 0
        self._unnoted = False
        found = segments.found_in(folder)
        start = segments.start_of(found)
        self.gateway_id = start.gateway_id or secrets.token_hex(16)
        self._next_number = start.number
        self._synced_number = start.number - 1
        self._ledger = Ledger(start.acknowledged, restoring=bool(found))
        self._files = Retention(self._folder, self._ledger, found)
        position = segments.position_of(found[-1]) + 1 if found else 1
        self._active = ActiveSegment(self._folder, self._files, segments.path_of(folder, position))
        self._begun = asyncio.Event()
        self._restore = Restore(
            self._folder, self._files, self._ledger, found, start.number, self._begun
        )
        self._active.begin(self._header)
        self._open_start = self._active.size
        if self._active.is_begun:
            self._active.sync_at_once()
            self._note_checkpoint()
        elif start.newest is None:
            raise JournalFullError("its disk has no room to begin it")
        else:  # What is sent of the older ones makes the room.
            segments.sync(start.newest)
            self._files.checkpoint = start.newest

    async def restore(self, changed: Callable[[], object] | None = None) -> None:
        """Read back what earlier runs left, while the journal is in use. Call once.

        `changed` is called whenever a batch was found, and at the end.
        """
        if changed:
            self._restore.changed = changed
        await self._restore.run()

    @property
    def lost_lines(self) -> int:
        """Lines that were on file and could not be read back."""
        return self._restore.lost + self._ledger.lost

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
        return self._files.size + self._active.size

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
        return self._active.dirty or self._refused or not self._active.is_begun

    def append(self, *visits: Visit) -> None:
        """Put visits on file, all with one write.

        Raises JournalFullError where there is room for a part of them, or none.
        """
        data = fits = b"".join(map(self._line_of, visits))
        why = "The journal or its disk has no room."
        room = self._limit - self._files.size - self._active.size
        if len(data) > room:
            fits = data[: data.rfind(b"\n", 0, max(0, room)) + 1]
        try:
            written = self._active.write(fits) if fits else 0
        except JournalFullError as error:
            written, why = 0, str(error)
        appended = len(visits)
        if written < len(data):
            appended = data.count(b"\n", 0, written)
            visits = visits[:appended]
        counts = self._open
        for visit in visits:
            counts[visit] = counts.get(visit, 0) + 1
        self._taken += appended
        if written < len(data):
            self._refused = True
            raise JournalFullError(why, appended)

    async def has_room(self) -> bool:
        """Whether the longest visit there can be would be put on file."""
        await self._look_for_room()
        return self._active.is_begun and self.size + lines.LONGEST_BYTES <= self._limit

    def close_batch(self) -> None:
        """Make a batch of the visits that are in none. It may be sent after the next `sync`.

        Raises JournalFullError, and then the visits wait for the next time.
        """
        segment, end = self._active.path, self._active.size
        visits = self.open_visits
        self._write(lines.of_batch(self._next_number, visits))
        self._ledger.add(
            Entry(self._next_number, visits, segment, self._open_start, end, self._open)
        )
        self._next_number += 1
        self._open = {}
        self._closed += visits
        self._open_start = self._active.size
        self._roll()

    async def first_batch(self) -> Batch | None:
        """The oldest batch that is not acknowledged, None while its end is not on disk.

        A number that analytics has seen can thus never stand for other visits after a power cut.
        While `restoring`, None may also say that the oldest was not read back yet. Raises OSError.
        """
        entry = self._ledger.first
        if entry is None or entry.number > self._synced_number:
            return None
        counts = await self._ledger.read(entry)  # Which may find less of them.
        return await batch_of(self.gateway_id, entry, counts)

    def acknowledge(self, number: int) -> None:
        """Note that analytics has the oldest batch, and drop segments nobody needs."""
        if number <= self._ledger.acknowledged:  # Its note was read back while it was sent again.
            return
        entry = self._ledger.first
        if entry is None or entry.number != number:
            raise ValueError(f"batch {number} is not the oldest")
        self._ledger.acknowledge(number)
        try:
            self._write(lines.of_acknowledgement(number))
            self._unnoted = False
        except JournalFullError:  # After a restart the batch is sent again: that changes nothing.
            self._unnoted = True
        self._files.drop()

    async def sync(self) -> None:
        """Wait until all that was appended before is on disk. Raises OSError."""
        refused, self._refused = self._refused, False
        free = await self._look_for_room()
        if not self._active.is_begun and free >= lines.LONGEST_BYTES:
            self._active.begin(self._header)
            self._open_start = self._active.size
        if not self._active.is_begun:
            return
        segment, last_number = self._active.path, self._next_number - 1
        await self._active.sync()
        self._synced_number = last_number
        if segment == self._active.path:
            self._note_checkpoint()
        size = self._active.size
        # A disk that is nearly full leaves less room than was meant: shorter segments, then.
        long = min(self._segment_bytes, max(self._limit // 4, _LEAST_BYTES))
        if size >= long or (refused and size > _LEAST_BYTES):
            await self._active.prepare_next()
        if refused and not self.open_visits:
            self._roll()

    async def close(self) -> None:
        """Sync, where the disk lets us, and give the folder back."""
        try:
            await self.sync()
        except OSError:
            self._unnoted = True
        await self._files.close()
        self._active.close()
        await self._folder.close()

    @property
    def _header(self) -> bytes:
        """The first line of a segment that is begun now: it carries the numbering on."""
        return lines.of_header(self.gateway_id, self._next_number)

    async def _look_for_room(self) -> int:
        """Note how much there may be on file; returns what the disk has left, headroom included."""
        free = await self._folder.free_bytes()
        self._limit = max(0, min(self._room, self.size + free - HEADROOM))
        return free

    def _write(self, line: bytes) -> None:
        """Append a line whole or not at all. Raises JournalFullError."""
        self._active.write(line)

    def _roll(self) -> None:
        """Go on in the next segment, if its file is ready. No visits may be open."""
        before = self._active.path
        self._active.roll(self._header)
        if self._active.path != before:
            self._open_start = self._active.size

    def _note_checkpoint(self) -> None:
        """Rely on the first line of the active segment, which is on disk."""
        self._files.checkpoint = self._active.path
        self._begun.set()
        self._files.drop()
