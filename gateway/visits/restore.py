"""Reads the segments of earlier runs back while the gateway serves.

A start looks at the end of the last segment alone and goes on in a new one (`segments`). What the
older ones hold is read here: in their order, in slices that each take the event loop a millisecond
or two, and with no more than a bounded number of batches in memory. Nothing is written but the
end of a segment that cannot be read: it is cut off, so that it is counted as lost once.

**Which numbers.** Analytics takes a batch only if its number is above the last one it has of this
journal. So batches are sent in the order of their numbers, and those of this run wait until all
older ones are read: their numbers are higher. A batch whose end is on file has the number that
stands there. Visits behind the last such end were in no batch when their run was killed. They
become batches of 5,000 visits, and the last of these has the number just below the one that the
next segment begins with, the one before it the number below that, and so on. The start that began
that segment left room for these numbers, above all that could have been used before. They follow
from the files alone, so a process that is killed while it reads, or after it has sent some, finds
the same visits under the same numbers at its next start; a second start begins a third segment and
changes neither of the first two. Nothing is sent before what its numbers follow from is on disk:
the segment itself, and the first line of the next one.

**Visits without an end that lost it.** A segment that was left in good order has no such visits:
its last line is a batch's end. If that line is spoilt, its number may be spent, and the
visits before it may have been counted. The number of the next segment tells: a start leaves more
between the two than the lines that cannot be read could have used. Where it did not, the visits are
counted as lost and cut off. So they are where the next segment's own first line cannot be read.

**An end that was not written whole** as the last line is the end of its batch: what there is of it
tells that all its visits are there, and its number follows the one before it.

**What is counted twice:** a batch that was sent, and whose end was spoilt after that as the last
line of the last segment. Nothing tells this from visits that were in no batch.

**What waits:** a segment that the disk does not give, or that a later version wrote so that this
one cannot read it, and all that is behind it, the visits of this run included: they have higher
numbers. Meanwhile visits are taken down as ever, and nothing is lost.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from gateway.visits import lines, segments
from gateway.visits.folder import Folder
from gateway.visits.ledger import Entry, Ledger
from gateway.visits.lines import Header
from gateway.visits.retention import Retention
from gateway.visits.segments import PIECE_VISITS
from services.runtime import logs

log = logs.get(__name__)

_AGAIN_SECONDS = 10.0
"""Pause before a segment that could not be read is tried again."""


class _LaterVersionError(Exception):
    """A later version wrote a segment, so that this one cannot read it."""


class _Segment:
    """How far one segment was read."""

    def __init__(self, path: Path, header: Header, size: int) -> None:
        self.path = path
        self.header = header
        self.size = size
        self.read = 0
        """Where the first line stands that was not read."""
        self.last = header.number - 1
        """The last batch whose end was read."""
        self.start = 0
        """Where that end ends."""
        self.visits = 0
        """Visits behind it."""
        self.cuts: list[int] = []
        """Where another `PIECE_VISITS` of them end."""
        self.spoilt = False
        """Whether there is a line that cannot be read: none behind it is."""
        self.unreadable = 0
        """Lines from that one on."""

    def add(self, visits: Sequence[bytes]) -> None:
        """Go on past lines of visits, given without their ends."""
        missing = PIECE_VISITS - self.visits % PIECE_VISITS
        self.visits += len(visits)
        while len(visits) >= missing:
            self.read += sum(map(len, visits[:missing])) + missing
            self.cuts.append(self.read)
            visits, missing = visits[missing:], PIECE_VISITS
        self.read += sum(map(len, visits)) + len(visits)

    def begin_batch(self, length: int) -> None:
        """Go on past a line behind which a batch begins."""
        self.read += length
        self.start, self.visits, self.cuts = self.read, 0, []

    def ends_with(self, text: bytes) -> bool:
        """Whether a last line that was not written whole is the end of the batch before it."""
        end = lines.line(f"b {self.last + 1} {self.visits}")
        return lines.is_cut_end(text) and end.startswith(text)


class Restore:
    """Reads the segments of earlier runs, `paths` from the oldest on, into a ledger.

    `number` is that of the segment begun after them, and `begun` is set once that is on disk.
    """

    def __init__(
        self,
        folder: Folder,
        files: Retention,
        ledger: Ledger,
        paths: Sequence[Path],
        number: int,
        begun: asyncio.Event,
    ) -> None:
        self._folder = folder
        self._files = files
        self._ledger = ledger
        self._paths = paths
        self._places = {path: place for place, path in enumerate(paths)}
        self._number = number
        self._begun = begun
        self._suspect: set[Path] = set()
        self._last = 0
        self._throttled = logs.Throttled(__name__)
        self.lost = 0
        """Lines that could not be read, and visits that may have been counted."""
        self.changed: Callable[[], object] = _nothing
        """Is called whenever a batch was found, and at the end."""

    async def run(self) -> None:
        """Read all of them, however long one keeps the others waiting. Call once."""
        for path, following in zip(self._paths, [*self._paths[1:], None], strict=False):
            self._files.resize(path, await self._read_at_last(path))
            self._files.unread = following  # Before segments go: this one is not read yet.
            self._files.drop()
        self._ledger.restoring = False
        self._files.drop()
        self.changed()

    async def _read_at_last(self, path: Path) -> int:
        while True:
            try:
                return await self._read(path)
            except _LaterVersionError as error:
                self._not_read(path, str(error))
            except OSError as error:
                missing = isinstance(error, FileNotFoundError)
                if missing and not await asyncio.to_thread(path.exists):
                    log.error("journal_segment_gone", segment=path.name)
                    return 0
                self._not_read(path, error.strerror)
            await asyncio.sleep(_AGAIN_SECONDS)

    def _not_read(self, path: Path, reason: str | None) -> None:
        self._throttled.error("journal_not_read", segment=path.name, reason=reason)

    async def _read(self, path: Path) -> int:
        """Read one segment; returns how many bytes of it are left, 0 if it was removed.

        Raises OSError and _LaterVersionError. It may be called again then: what was found is not
        found again.
        """
        header = await asyncio.to_thread(segments.header_of, path)
        if header is None:
            await self._give_up(path)
            return 0
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            size = os.fstat(fd).st_size
            number, next_path, is_sure = await asyncio.to_thread(self._following, path)
            if number - 1 <= self._ledger.acknowledged:
                return size
            if not header.is_known:
                raise _LaterVersionError(f"Version {header.version} of the format wrote it.")
            await self._sync(path)
            segment = _Segment(path, header, size)
            await self._read_batches(segment, fd)
            if segment.visits or segment.spoilt:
                if next_path is None:
                    await self._begun.wait()
                else:
                    await self._sync(next_path)
                left = await self._read_rest(segment, number if is_sure else None)
                if left < size:  # By its name: a thread goes on when its task was cancelled.
                    await self._folder.run(os.truncate, path, left)
                return left
            return size
        finally:
            os.close(fd)

    async def _sync(self, path: Path) -> None:
        """Bring a segment to disk. Raises OSError, after which the next call does not trust it."""
        try:
            await self._folder.run(segments.sync, path, again=path in self._suspect)
        except OSError:
            self._suspect.add(path)
            raise
        self._suspect.discard(path)

    async def _read_batches(self, segment: _Segment, fd: int) -> None:
        text = b""
        async for text in lines.slices(fd, 0, segment.size):
            if segment.spoilt:
                segment.unreadable += text.count(b"\n")
                continue
            whole = text.endswith(b"\n")
            texts = (text[:-1] if whole else text).split(b"\n")
            if whole and all(map(lines.is_visit, set(texts))):
                segment.add(texts)
                continue
            position = segment.read
            for index, line in enumerate(texts):
                is_torn = not whole and index == len(texts) - 1
                if is_torn and segment.ends_with(line):
                    await self._end_batch(segment, segment.last + 1, len(line))
                elif is_torn or not lines.is_good(line):
                    segment.spoilt = True
                    segment.unreadable = text.count(b"\n", segment.read - position)
                    break
                else:
                    await self._read_line(segment, line)
        if segment.spoilt:
            segment.unreadable += not text.endswith(b"\n")

    async def _read_line(self, segment: _Segment, line: bytes) -> None:
        length = len(line) + 1
        for kind, number, _ in lines.controls(line + b"\n"):
            if kind == b"b":
                await self._end_batch(segment, number, length)
                return
            self._ledger.acknowledge(number)
        if lines.is_visit(line):
            segment.add([line])
        elif lines.header_of(line):
            segment.begin_batch(length)
        else:  # A note of analytics' acknowledgement, or what only a later version knows.
            segment.read += length

    async def _end_batch(self, segment: _Segment, number: int, length: int) -> None:
        segment.last = number
        await self._found(segment, number, segment.start, segment.read, segment.visits)
        segment.begin_batch(length)

    async def _read_rest(self, segment: _Segment, following: int | None) -> int:
        """What is behind the last batch's end: visits, and what cannot be read.

        `following` is the number that the next segment begins with, None if it is not known.
        Returns how many bytes of the segment are left.
        """
        pieces = -(-segment.visits // PIECE_VISITS)
        last = spent = segment.last
        if segment.spoilt:
            numbers = await asyncio.to_thread(segments.numbers_of, segment.path, segment.header)
            last, spent = numbers.last, max(numbers.spent, spent)
        if following is None or following - pieces <= spent or last > segment.last:
            self._lose(segment.path, segment.visits + segment.unreadable)
            return segment.start
        starts = [segment.start, *segment.cuts]
        ends = [*segment.cuts[: pieces - 1], segment.read]
        left = segment.visits
        for index in range(pieces):
            visits = min(left, PIECE_VISITS)
            left -= visits
            number = following - pieces + index
            await self._found(segment, number, starts[index], ends[index], visits)
        if segment.spoilt:
            self._lose(segment.path, segment.unreadable)
        return segment.read

    async def _found(
        self, segment: _Segment, number: int, start: int, end: int, visits: int
    ) -> None:
        if visits and number > self._last:
            self._last = number
            await self._ledger.restore(Entry(number, visits, segment.path, start, end))
            self.changed()

    def _following(self, path: Path) -> tuple[int, Path | None, bool]:
        """The number that the next segment begins with, which one that is, and whether it is sure.

        None is the segment of this run. It is not sure where the first line of a file
        between cannot be read any more: that told another number.
        """
        is_sure = True
        for place in range(self._places[path] + 1, len(self._paths)):
            later = self._paths[place]
            try:
                header = segments.header_of(later)
                if header:
                    return header.number, later, is_sure
                is_sure = is_sure and not segments.was_begun(later)
            except FileNotFoundError:  # It is told when its turn comes.
                continue
        return self._number, None, is_sure

    async def _give_up(self, path: Path) -> None:
        """Remove a file that does not begin as a segment."""
        await self._begun.wait()
        lost = 0
        text = b"\n"
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            async for text in lines.slices(fd, 0, os.fstat(fd).st_size):
                lost += text.count(b"\n")
        finally:
            os.close(fd)
        lost += not text.endswith(b"\n")
        await self._folder.run(path.unlink)
        self._lose(path, lost)

    def _lose(self, path: Path, lost: int) -> None:
        if lost:
            self.lost += lost
            log.warning("journal_tail_unreadable", segment=path.name, lines=lost)


def _nothing() -> None:
    """Nobody wants to know."""
