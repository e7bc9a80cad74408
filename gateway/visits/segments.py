"""The journal's files: how they are named and begun, and where their numbers stand at a start."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from gateway.visits import lines
from gateway.visits.lines import Header

_SUFFIX = ".journal"
_DIGITS = 10
_LOOKED_AT = 8 << 20
"""Bytes at the end of the files that a start looks at: twice a segment. A constant of the format:
another one finds other numbers in the same file."""
_FAR = 1 << 32
"""More batches than a file can have had, whatever was cut off it."""
_REWRITTEN = 1 << 20
"""Bytes that are read and written again at a time."""
_HEADER_BYTES = 128
"""No header has more: an id of 64 characters and a number."""
PIECE_VISITS = 5_000
"""Visits of one batch where those at a segment's end were in none; as many rows, at most, go out
with one message. A constant of the format: numbers that were given before depend on it."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the last part of a segment says of the numbers that were given to batches."""

    last: int
    """The last batch whose end was read; one less than the header's number if none was."""
    spent: int
    """No batch of the segment has a number above this one."""
    loose: int
    """Bytes behind that end among which there may be visits; 0 if there are none."""
    acknowledged: int
    """The last batch that analytics was noted to have, 0 if none was."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where a journal goes on."""

    gateway_id: str
    """Empty where no segment can be read."""
    number: int
    acknowledged: int
    newest: Path | None = None
    """The last segment that can be read, None where none can."""


def found_in(folder: Path) -> list[Path]:
    """The segments of a folder, oldest first. Files with other names are not the journal's."""
    return sorted(folder.glob(f"{'[0-9]' * _DIGITS}{_SUFFIX}"))


def path_of(folder: Path, position: int) -> Path:
    """The segment with this position, counted from 1."""
    return folder / f"{position:0{_DIGITS}d}{_SUFFIX}"


def position_of(path: Path) -> int:
    """The position of a segment."""
    return int(path.stem)


def create(path: Path) -> int:
    """A file to append to, whose name is on disk: empty, for no other has it. Raises OSError."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    except OSError:
        # The next sync of the folder could succeed without writing the name: it is made anew.
        os.close(fd)
        path.unlink()
        raise
    finally:
        os.close(folder)
    return fd


def sync(path: Path, *, again: bool = False) -> None:
    """Bring a segment to disk. Raises OSError.

    `again` says that an earlier sync failed: then its bytes are written once more before. After a
    failure the kernel may take the pages for clean, and a sync alone would not write them.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if again:
            for start in range(0, os.fstat(fd).st_size, _REWRITTEN):
                rewrite(path, start, os.pread(fd, _REWRITTEN, start))
        os.fdatasync(fd)
    finally:
        os.close(fd)


def rewrite(path: Path, start: int, data: bytes) -> None:
    """Write bytes of a segment again where they are. Raises OSError."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)  # One for appending ignores the position.
    try:
        while data:
            written = os.pwrite(fd, data, start)
            start, data = start + written, data[written:]
    finally:
        os.close(fd)


def header_of(path: Path) -> Header | None:
    """A segment's first line, None if it cannot be read as such. Raises OSError."""
    with path.open("rb") as file:
        text, end, _ = file.read(_HEADER_BYTES).partition(b"\n")
    return lines.header_of(text) if end else None


def was_begun(path: Path) -> bool:
    """Whether there is a line in a file, readable or not. Raises OSError."""
    with path.open("rb") as file:
        return b"\n" in file.read(_HEADER_BYTES + lines.LONGEST_BYTES)


def numbers_of(path: Path, header: Header) -> Numbers:
    """Look at the end of a segment, at most 8 MiB, in at most a second. Raises OSError.

    The same file gives the same numbers. A batch's end that cannot be read may stand in every line
    that cannot. Where none can be read at all in a file that is longer, or a later version wrote
    it, its numbers are taken to reach 2^32 further than its header's.
    """
    if not header.is_known:
        return Numbers(header.number - 1, header.number - 1 + _FAR, 0, 0)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        first = max(0, size - _LOOKED_AT)
        file.seek(first)
        last = header.number - 1
        spent = last + (_FAR if first else 0)
        loose, acknowledged = first, 0
        rest = b""
        if not first:
            file.readline(_HEADER_BYTES)
        while data := file.read(lines.SLICE_BYTES):
            data = rest + data
            cut = data.rfind(b"\n") + 1
            rest, behind = data[cut:], data[:cut]
            for kind, number, end in lines.controls(data[:cut]):
                if kind == b"a":
                    acknowledged = max(acknowledged, number)
                else:
                    last = spent = number
                    loose, behind = 0, data[end:cut]
            texts = set(behind[:-1].split(b"\n")) if behind else set()
            if not all(map(lines.is_good, texts)):
                spent += behind.count(b"\n")
            if not all(text[9:11] == b"a " for text in texts):
                loose += len(behind)
            rest = rest[-lines.SLICE_BYTES :]  # What has no line ends is no line.
        spent += lines.is_cut_end(rest)
    return Numbers(last, spent, loose, acknowledged)


def start_of(paths: list[Path]) -> Start:
    """Where a journal of these segments goes on, told by the last ones alone. Raises OSError.

    The number is above all that the segments can have used, and leaves enough below it for the
    batches that the visits behind the last batch's end will be (`restore`).
    """
    skipped = 0
    acknowledged = 0
    looked_at = 0
    start: Start | None = None
    for path in reversed(paths):
        header = header_of(path)
        if header is None:
            if start is None:
                skipped = _FAR
            continue
        numbers = numbers_of(path, header)
        acknowledged = max(acknowledged, numbers.acknowledged)
        if start is None:
            number = max(numbers.spent, acknowledged) + skipped + 1
            if numbers.loose:
                number += 1 + numbers.loose // (PIECE_VISITS * lines.LEAST_VISIT_BYTES)
            start = Start(header.gateway_id, number, 0, path)
        looked_at += min(_LOOKED_AT, path.stat().st_size)
        if acknowledged or looked_at >= _LOOKED_AT:
            break
    if start is None:
        return Start("", 1, 0)
    return Start(start.gateway_id, start.number, acknowledged, start.newest)
