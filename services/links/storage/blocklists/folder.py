"""The list files of a folder, watched and kept loaded.

Every regular file whose name does not start with a dot is a list. The folder is scanned every few
seconds, and changed files are loaded one after the other. A loaded list replaces its previous
version atomically. A file that cannot be loaded changes nothing: its previous version, if any,
stays in use.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import time
from contextlib import AbstractAsyncContextManager, suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from services.links import metrics
from services.links.domain.blocklist import BlocklistMatch
from services.links.domain.target import Target, host_keys
from services.links.storage.blocklists.loader import LoadError, load, printable
from services.links.storage.blocklists.table import BlocklistTable
from services.shared import background
from services.shared.errors import Unavailable
from services.shared.observability import logs

SETTLE_SECONDS = 60.0
"""How long after this process every other one has loaded the same lists. Until then one may still
accept links to what they name."""
REFRESH_SECONDS = 5.0
"""How often the folder is scanned."""

log = logs.get(__name__)


class _Version(NamedTuple):
    """What identifies a version of a file."""

    device: int
    inode: int
    size: int
    changed: int
    """Modification time in nanoseconds."""


class BlocklistFolder:
    """A `VersionedBlocklist` of the list files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables: dict[str, BlocklistTable] | None = None
        """By name and in that order; None until every file has been read once."""
        self._versions: dict[str, _Version | None] = {}
        """The version of each file that was read last; None if it is to be read again."""
        self._throttled_log = logs.Throttled(__name__)
        self.fingerprint: str | None = None
        self.settled_at = 0.0
        metrics.LOOKED.set_to_current_time()

    def match(self, url: str) -> BlocklistMatch | None:
        tables = self._require_tables()
        if not tables:
            return None
        target = Target(url)
        found = (table.match(target) for table in tables.values())
        return next((match for match in found if match), None)

    def matches(self, url: str) -> list[BlocklistMatch]:
        target = Target(url)
        found = (table.match(target) for table in self._require_tables().values())
        return [match for match in found if match]

    def may_match_host(self, host: str) -> bool:
        tables = self._tables or {}
        hosts = host_keys(host) if tables else []
        return any(table.may_match_host(hosts) for table in tables.values())

    def running(self) -> AbstractAsyncContextManager[None]:
        """Load the lists in the background and keep them up to date until the body ends."""
        return background.running(self._watch(), "blocklists")

    async def refresh(self) -> None:
        """Scan the folder and load changed files."""
        try:
            found = await asyncio.to_thread(_list_files, self._folder)
        except OSError as error:
            # Keep the loaded lists: a missing volume does not make their entries harmless.
            self._throttled_log.error("blocklists_not_looked_through", reason=type(error).__name__)
            self._tables = self._tables or {}
            return
        tables = {name: table for name, table in (self._tables or {}).items() if name in found}
        for name in self._versions.keys() - found.keys():
            for gauge in (metrics.ENTRIES, metrics.CHANGED, metrics.BROKEN):
                with suppress(KeyError):
                    gauge.remove(printable(name))
            del self._versions[name]
        for name, version in sorted(found.items()):
            if self._versions.get(name) != version:
                await self._load(name, version, tables)
        self._use(tables)
        fingerprint = _compute_fingerprint(tables) if tables.keys() == found.keys() else None
        if self.fingerprint != fingerprint:
            self.fingerprint = fingerprint
            self.settled_at = time.monotonic() + SETTLE_SECONDS
        metrics.LOOKED.set_to_current_time()

    def _require_tables(self) -> dict[str, BlocklistTable]:
        if self._tables is None:
            raise Unavailable("The blocklists are being loaded.", "BLOCKLISTS_UNREAD")
        return self._tables

    async def _watch(self) -> None:
        while True:
            await self.refresh()
            await asyncio.sleep(REFRESH_SECONDS)

    async def _load(self, name: str, version: _Version, tables: dict[str, BlocklistTable]) -> None:
        """Load a changed file into `tables`, and use it at once unless this is the first scan."""
        label = printable(name)
        try:
            tables[name] = await load(self._folder / name)
        except LoadError as error:
            self._versions[name] = version if error.is_final else None
            metrics.BROKEN.labels(label).set(1)
            log_error = log.error if error.is_final else self._throttled_log.error
            log_error(
                "blocklist_broken",
                list=label,
                reason=error.reason,
                unreadable=error.unreadable,
                lines=error.lines,
                in_use=len(tables.get(name, ())),
            )
            return
        self._versions[name] = version
        metrics.BROKEN.labels(label).set(0)
        metrics.ENTRIES.labels(label).set(len(tables[name]))
        metrics.CHANGED.labels(label).set(version.changed / 1e9)
        log.info("blocklist_read", list=label, entries=len(tables[name]))
        if self._tables is not None:
            self._use(tables)

    def _use(self, tables: dict[str, BlocklistTable]) -> None:
        self._tables = dict(sorted(tables.items()))
        metrics.LISTS.set(len(self._tables))


def _compute_fingerprint(tables: dict[str, BlocklistTable]) -> str:
    named = [(name, tables[name].fingerprint) for name in sorted(tables)]
    return sha256(repr(named).encode()).hexdigest()


def _list_files(folder: Path) -> dict[str, _Version]:
    """Return the list files of a folder. Symbolic links count: a ConfigMap mounts its files so."""
    found = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            try:
                status = entry.stat()
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.ELOOP):  # Just deleted, or a broken link.
                    continue
                raise
            if stat.S_ISREG(status.st_mode):
                found[entry.name] = _Version(
                    status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
                )
    return found
