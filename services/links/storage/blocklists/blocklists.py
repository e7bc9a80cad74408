"""The gate of URLs: files of blocked hosts and paths, in memory and kept up to date.

Every plain file of the folder whose name begins with no dot is a list. The folder is looked through
every few seconds, and what changed is read by a process of its own (`reader`), one file
after the other. A list that was read takes the place of the one before at once and whole. A file
that is broken changes nothing: what was read of it before, if anything, goes on being used.

In memory a list is the digests of what it names, ascending, and their lines: 12 bytes an entry.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from bisect import bisect_left
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec

from services.links import metrics
from services.links.domain.block import BlockReason, Refusal
from services.links.domain.target import Host, Target, hosts_of
from services.links.storage.blocklists import reader
from services.shared import background
from services.shared.errors import Unavailable
from services.shared.observability import logs

SETTLE_SECONDS = 60.0
"""How long after this process every other one knows the same lists: for so long one may still make
links to what they name."""
LOOK_SECONDS = 5.0
"""How often the folder is looked through."""
READ_SECONDS = 120.0
"""Most that the reading of one file may take; a million lines take some seconds."""
_CHUNK = 1 << 16
"""Bytes of a list that are taken over between two turns of the loop."""

log = logs.get(__name__)


class Blocklist:
    """A list in memory."""

    def __init__(self, name: str, contents: str, digests: memoryview, lines: memoryview) -> None:
        """`digests` are 64 bits each, ascending, `lines` as many of 32 bits."""
        self.name = name
        self.contents = contents
        self.reason = reason_of(name)
        self._digests = digests
        self._lines = lines

    def __len__(self) -> int:
        return len(self._digests)

    def line_of(self, target: Target) -> int | None:
        """The line that names a target, or what it lies in; None where there is none."""
        for whole, pages, host in target.hosts:
            line = self._line(whole)
            if line is not None:
                return line
            if self._line(pages) is None:
                continue
            for digest in target.pages_on(host):
                line = self._line(digest)
                if line is not None:
                    return line
        return None

    def concerns(self, hosts: Sequence[Host]) -> bool:
        """Whether it names one of some hosts, or pages of one."""
        return any(
            self._line(digest) is not None for whole, pages, _ in hosts for digest in (whole, pages)
        )

    def _line(self, digest: int) -> int | None:
        found = bisect_left(self._digests, digest)
        if found < len(self._digests) and self._digests[found] == digest:
            return int(self._lines[found])
        return None


def reason_of(name: str) -> BlockReason:
    """The class of a list by the name of its file, which may begin with one."""
    begins = (reason for reason in BlockReason if name.lower().startswith(reason.value))
    return next(begins, BlockReason.OTHER)


@dataclass(frozen=True, slots=True)
class _Version:
    """What tells one state of a file from the next."""

    device: int
    inode: int
    size: int
    changed: int

    @classmethod
    def of(cls, found: os.stat_result) -> _Version:
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


class _NotListError(Exception):
    """A file could not be read as a list. `reason` says why, `is_final` that it stays so."""

    def __init__(self, reason: str, *, is_final: bool, unreadable: int = 0, lines: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_final = is_final
        self.unreadable = unreadable
        self.lines = lines


class Blocklists:
    """The `UrlGate` of the lists in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lists: tuple[Blocklist, ...] | None = None
        """By name, whole lists; None until all files were read for the first time."""
        self._known: dict[str, Blocklist] = {}
        self._read: dict[str, _Version | None] = {}
        """Which version of each file was read; None where reading it is to be tried again."""
        self._trouble = logs.Throttled(__name__)
        self.contents: str | None = None
        self.settled_at = 0.0
        metrics.LOOKED.set_to_current_time()

    def refusal(self, url: str) -> Refusal | None:
        if self._lists is None:
            raise Unavailable("The blocklists are being read.", "BLOCKLISTS_UNREAD")
        if not self._lists:
            return None
        target = Target(url)
        for each in self._lists:
            line = each.line_of(target)
            if line is not None:
                return Refusal(each.reason, each.name, line)
        return None

    def concerns(self, host: str) -> bool:
        lists = self._lists or ()
        hosts = hosts_of(host) if lists else []
        return any(each.concerns(hosts) for each in lists)

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Read the lists, and go on reading what changes, until the body ends."""
        watching = background.run(self._watch(), "blocklists")
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    async def _watch(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """Bring the lists up to date with the folder."""
        try:
            found = await asyncio.to_thread(_plain_files, self._folder)
        except OSError as error:
            # What is known goes on being used: a volume that is away names nothing innocent.
            self._trouble.error("blocklists_not_looked_through", reason=type(error).__name__)
            self._lists = self._lists or ()
            return
        lists = {name: each for name, each in self._known.items() if name in found}
        for name in self._read.keys() - found.keys():
            _forget(name)
            del self._read[name]
        for name, version in sorted(found.items()):
            if self._read.get(name) != version:
                await self._take(name, version, lists)
        self._use(lists)
        contents = _contents_of(lists) if lists.keys() == found.keys() else None
        if self.contents != contents:
            self.contents = contents
            self.settled_at = time.monotonic() + SETTLE_SECONDS
        metrics.LOOKED.set_to_current_time()

    async def _take(self, name: str, version: _Version, lists: dict[str, Blocklist]) -> None:
        """Read a file that changed, and use what it names."""
        label = _printable(name)
        try:
            lists[name] = await self._load(name)
        except _NotListError as error:
            self._read[name] = version if error.is_final else None
            metrics.BROKEN.labels(label).set(1)
            tell = log.error if error.is_final else self._trouble.error
            tell(
                "blocklist_broken",
                list=label,
                reason=error.reason,
                unreadable=error.unreadable,
                lines=error.lines,
                in_use=len(lists.get(name, ())),
            )
            return
        self._read[name] = version
        metrics.BROKEN.labels(label).set(0)
        metrics.ENTRIES.labels(label).set(len(lists[name]))
        metrics.CHANGED.labels(label).set(version.changed / 1e9)
        log.info("blocklist_read", list=label, entries=len(lists[name]))
        if self._lists is not None:
            self._use(lists)

    def _use(self, lists: dict[str, Blocklist]) -> None:
        self._known = dict(lists)
        self._lists = tuple(lists[name] for name in sorted(lists))
        metrics.LISTS.set(len(self._lists))

    async def _load(self, name: str) -> Blocklist:
        """Have a file read. Raises _NotListError."""
        try:
            async with asyncio.timeout(READ_SECONDS):
                return await _read(self._folder / name)
        except TimeoutError:
            raise _NotListError("TOO_SLOW", is_final=True) from None
        except (OSError, EOFError, msgspec.DecodeError) as error:
            # The reader could not be started or was killed: that is no fault of the file's.
            raise _NotListError(f"READER_{type(error).__name__}", is_final=False) from error


def _contents_of(lists: dict[str, Blocklist]) -> str:
    named = [(name, lists[name].contents) for name in sorted(lists)]
    return sha256(repr(named).encode()).hexdigest()


def _plain_files(folder: Path) -> dict[str, _Version]:
    """The lists of a folder, by name. What a ConfigMap mounts are links to plain files."""
    found = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            try:
                status = entry.stat()
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.ELOOP):  # It just went, or leads nowhere.
                    continue
                raise
            if stat.S_ISREG(status.st_mode):
                found[entry.name] = _Version.of(status)
    return found


async def _read(path: Path) -> Blocklist:
    """Have a process of its own read a list. Raises _NotListError, OSError, EOFError."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        reader.__name__,
        str(path),
        stdin=DEVNULL,
        stdout=PIPE,
        limit=_CHUNK,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},  # Nothing else: there are secrets in it.
    )
    try:
        return await _taken_over(_printable(path.name), process)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
        await process.wait()


async def _taken_over(name: str, process: Process) -> Blocklist:
    out = process.stdout
    assert out is not None
    told = msgspec.json.decode(await out.readline(), type=reader.Outcome)
    if told.fault is not None:
        raise _NotListError(
            told.fault,
            is_final=told.fault != "NOT_READ",
            unreadable=told.unreadable,
            lines=told.lines,
        )
    parts = []
    for size in (8 * told.entries, 4 * told.entries):
        part = memoryview(bytearray(size))
        for start in range(0, size, _CHUNK):
            part[start : start + _CHUNK] = await out.readexactly(min(_CHUNK, size - start))
        parts.append(part.toreadonly())
    digests, lines = parts
    return Blocklist(name, told.contents, digests.cast("Q"), lines.cast("I"))


def _printable(name: str) -> str:
    """The name of a file with what is no UTF-8 in it replaced."""
    return name.encode(errors="replace").decode()


def _forget(name: str) -> None:
    """Drop the series of a list whose file is gone."""
    for gauge in (metrics.ENTRIES, metrics.CHANGED, metrics.BROKEN):
        with suppress(KeyError):
            gauge.remove(_printable(name))
