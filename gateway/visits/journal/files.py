"""The files of the journal: one per batch, named `<batch number>-<gateway id>.v<version>`."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from gateway.visits.journal import lines
from gateway.visits.journal.lines import Counts
from services.shared.observability import logs

log = logs.get(__name__)

WHOLE, DIVIDED = 1, 2
"""Versions of the file format, which are part of the file name. The batch is sent whole, or each of
its lanes as a batch of its own. Add one when an earlier version of Atajo would misread the lines or
count them in batches with other numbers."""
_READ_BYTES = 1 << 20
"""Bytes that are read at a time to count lines."""
_NAME = re.compile(r"([0-9]{10})-([0-9a-f]{32})\.v([0-9]{1,9})")


@dataclass(slots=True)
class BatchFile:
    """The file of one batch, open for appending or closed."""

    path: Path
    number: int
    gateway_id: str
    version: int
    size: int = 0
    visits: int = 0
    counts: Counts | None = None
    """Its visits, None if they are not in memory."""
    is_restored: bool = False
    """Whether an earlier process wrote it."""
    is_counted: bool = True
    """Whether `visits` is known."""
    is_synced: bool = False
    """Whether it is closed and on disk, together with its name and that of the next file."""
    fd: int = -1
    synced: int = 0
    """Bytes that are known to be on disk, of a file that this process wrote."""
    unsynced: list[bytes] = field(default_factory=list)
    """What was written after them."""
    is_suspect: bool = False
    """Whether a sync failed, or its outcome is unknown. The kernel reports a failed sync once, and
    may mark the pages clean, so that the next sync succeeds without writing them."""


def find_files(folder: Path) -> tuple[list[BatchFile], set[str]]:
    """Return the files of a folder, oldest first, and the gateway ids of files of a later version.

    The latter files are left for a gateway of that version. Raises OSError.
    """
    found: list[BatchFile] = []
    later: set[str] = set()
    for path in folder.iterdir():
        if named := _NAME.fullmatch(path.name):
            number, gateway_id, version = int(named[1]), named[2], int(named[3])
            if version > DIVIDED:
                log.warning("journal_file_of_later_version", file=path.name)
                later.add(gateway_id)
                continue
            size = path.stat().st_size
            found.append(
                BatchFile(
                    path, number, gateway_id, version, size, is_restored=True, is_counted=False
                )
            )
    return sorted(found, key=lambda file: file.number), later


def count_lines(path: Path) -> int:
    """Return the number of lines of a file. Raises OSError."""
    count = 0
    with path.open("rb", buffering=0) as file:
        while data := file.read(_READ_BYTES):
            count += data.count(b"\n")
    return count


def sync_file(fd: int, start: int, again: bytes) -> None:
    """Sync a file to disk, after writing `again` (possibly empty) at `start`. Raises OSError."""
    while again:
        written = os.pwrite(fd, again, start)
        start, again = start + written, again[written:]
    os.fdatasync(fd)


def sync_path(path: Path, again: bool) -> None:
    """Sync a file to disk, after rewriting it if `again`. Raises OSError."""
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        sync_file(fd, 0, path.read_bytes() if again else b"")
    finally:
        os.close(fd)


async def read_file(path: Path) -> tuple[Counts, int]:
    """Return the visits of a file, and the number of unreadable lines. Raises OSError.

    An unfinished last line is neither: its response was never sent.
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
