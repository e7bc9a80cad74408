"""The segments behind the active one, and which of them can go."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from gateway.visits.folder import Folder
from gateway.visits.ledger import Ledger
from services.runtime import background, logs

_LONG_TO_REMOVE = 32 << 20
"""A larger file is removed in a thread: 1 GiB takes a disk's file system 100 ms."""


class Retention:
    """Keeps a segment for as long as somebody needs it. A segment is removed once

    - analytics has all its batches, and it was read if an earlier run wrote it;
    - a later one carries the numbering on, whatever happens to the power (`checkpoint`);
    - the one before it is gone. For where a segment is spoilt, the one before it tells which
      numbers it may have used, and where one is missing, visits that are read before it may get
      other numbers than they had.

    A file that the disk does not give up is tried again at the next `drop`.
    """

    def __init__(self, folder: Folder, ledger: Ledger, found: Sequence[Path]) -> None:
        self._folder = folder
        self._ledger = ledger
        self._sizes = {path: path.stat().st_size for path in found}
        self._removal: asyncio.Task[None] | None = None
        self._throttled = logs.Throttled(__name__)
        self.size = sum(self._sizes.values())
        """Bytes of them all."""
        self.unread: Path | None = found[0] if found else None
        """The oldest segment of earlier runs that was not read yet."""
        self.checkpoint: Path | None = None
        """The newest segment whose first line is on disk; while there is none, all are kept."""

    def resize(self, segment: Path, size: int) -> None:
        """Take note of a segment that was the active one until now, or of a new length."""
        self.size += size - self._sizes.get(segment, 0)
        self._sizes[segment] = size

    def drop(self) -> None:
        """Remove the segments that nobody needs, from the oldest on."""
        if self.checkpoint is None:
            return
        oldest = self._ledger.oldest
        needed = (oldest.segment if oldest else None, self.unread, self.checkpoint)
        while self._sizes and not self._removal:
            segment = next(iter(self._sizes))
            if segment in needed:
                return
            if self._sizes[segment] > _LONG_TO_REMOVE:
                self._removal = background.run(self._remove_long(segment), "journal_remove")
                return
            try:
                segment.unlink(missing_ok=True)
            except OSError as error:
                self._not_removed(segment, error)
                return
            self.size -= self._sizes.pop(segment)

    async def close(self) -> None:
        """Wait until no file is being removed."""
        while self._removal:
            await asyncio.wait([self._removal])

    async def _remove_long(self, segment: Path) -> None:
        try:
            await self._folder.run(segment.unlink, missing_ok=True)
        except OSError as error:
            self._not_removed(segment, error)
            return
        finally:
            self._removal = None
        self.size -= self._sizes.pop(segment)
        self.drop()

    def _not_removed(self, segment: Path, error: OSError) -> None:
        self._throttled.error("journal_not_removed", segment=segment.name, error=error.strerror)
