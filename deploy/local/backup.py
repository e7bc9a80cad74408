"""Backs up a running Atajo on SQLite to a new folder.

The copy is a complete data folder, which `atajo restore` or a run can use. It contains everything
that was acknowledged before the backup began. It does not contain the visit journal: a restored
gateway starts a new journal under a new id, so that it never reuses a batch number.

A backup has its name only once it is complete and on disk. Until then it is a folder whose name
ends in `.partial`, without a token secret, which is copied last.
"""

from __future__ import annotations

import fcntl
import glob
import http.client
import os
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from deploy.local.folder import read_state, sync
from deploy.local.signals import ENDING_SIGNALS, is_ignored

# In this order, no store refers to data that is newer than the copies before it.
STORES = ("analytics.sqlite3", "links.sqlite3", "auth.sqlite3")
KEY_FILE = "token-secret"
# A visitor key must be deleted when its day ends, but a copy would keep it.
_NOT_COPIED = {"analytics.sqlite3": "visitor_keys"}
DRAFT_SUFFIX = ".partial"
"""End of the names of folders that are no backups."""
_STEP_PAGES = 4096
"""Pages that are copied before a signal can end the process."""
_RESERVED_BYTES = 64 * 2**20
"""Free space that a backup leaves to the run on the same disk, whose logs grow meanwhile."""
_DRAIN_TIMEOUT = 30.0
_LAG = re.compile(r"^atajo_visit_flush_lag_seconds (\S+)$", re.MULTILINE)
_RESTORING = re.compile(r"^atajo_visits_restoring 1(\.0)?$", re.MULTILINE)


@dataclass(frozen=True)
class Backup:
    """A backup that was made: `backup`."""

    path: str
    """Its folder."""
    bytes: int
    """Size of its files."""
    seconds: float
    """How long it took."""


def back_up(data: Path, copy: Path, mark: str | None = None) -> Backup:
    """Copy a running data folder to a new one, atomically. Waits for another backup of it.

    `mark` is the name of an empty file that the copy gets. Raises SystemExit with one line, also
    for a copy directly in the data folder: a start would take some names for an unfinished restore.
    """
    began = time.monotonic()
    try:
        check_owner(data)
        with held(data):
            if copy.exists():
                raise SystemExit(f"No backup was made: {copy} is there already.")
            _await_counted(data)
            if copy.resolve().parent == data.resolve():
                raise SystemExit(
                    f"No backup was made: {data} is the data folder itself. "
                    f"Use a folder in {data / 'backups'}, or another one."
                )
            with _draft(data, copy) as draft:
                size = _fill(draft, data)
                if mark:
                    (draft / mark).touch()
                sync(draft)
                draft.rename(copy)
            sync(copy.parent)
    except (OSError, sqlite3.Error, http.client.HTTPException) as error:
        raise SystemExit(f"No backup was made: {describe(error)}.") from None
    return Backup(str(copy), size, round(time.monotonic() - began, 1))


def unwind_at_signals() -> None:
    """Let signals end this process by an exception: what it left incomplete is deleted."""
    for number in ENDING_SIGNALS:
        if not is_ignored(number):
            signal.signal(number, _exit)


def _exit(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def describe(error: Exception) -> str:
    """Return what failed, for the end of a sentence."""
    if isinstance(error, OSError) and error.strerror:
        file = error.filename2 or error.filename
        return f"{file}: {error.strerror}" if file else error.strerror
    return str(error)


def check_owner(data: Path) -> None:
    """Raise SystemExit with one line unless this user owns a data folder.

    What another user wrote there, such as root in a container, the run could not read.
    """
    if data.is_dir() and (owner := data.stat().st_uid) != os.geteuid():
        raise SystemExit(f"The data folder {data} is of the user {owner}: run this as that user.")


@contextmanager
def held(data: Path) -> Iterator[None]:
    """Let nothing else back up or restore a data folder until the context ends. Waits for it."""
    if not data.is_dir():
        raise SystemExit(_not_running(data))
    fd = os.open(data / "backup.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.stderr.write("Waits until another backup is complete.\n")
            fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def delete_leftovers(folder: Path, name: str = "*") -> None:
    """Delete what interrupted backups with a name left in a folder. Raises OSError."""
    for leftover in folder.glob(f"{name}.*{DRAFT_SUFFIX}"):
        if not leftover.is_dir():  # Not a leftover of ours.
            continue
        fd = os.open(leftover, os.O_RDONLY)
        try:
            if _lock_folder(fd, fcntl.LOCK_EX):
                shutil.rmtree(leftover)
        finally:
            os.close(fd)


@contextmanager
def _draft(data: Path, copy: Path) -> Iterator[Path]:
    """Create a folder that becomes a backup if it is renamed, and is deleted if not."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    delete_leftovers(copy.parent, glob.escape(copy.name))
    _check_space(data, copy.parent)
    draft = Path(tempfile.mkdtemp(DRAFT_SUFFIX, f"{copy.name}.", copy.parent))
    fd = os.open(draft, os.O_RDONLY)
    try:
        _lock_folder(fd, fcntl.LOCK_SH)
        yield draft
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    finally:
        os.close(fd)


def _lock_folder(fd: int, kind: int) -> bool:
    """Lock a folder. Returns whether that succeeded: many network file systems cannot.

    There, what interrupted backups left stays, rather than that a backup from another data folder
    is deleted while it is made.
    """
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _check_space(data: Path, folder: Path) -> None:
    """Raise SystemExit if a backup would fill the disk of a folder."""
    files = (data / f"{name}{log}" for name in STORES for log in ("", "-wal"))
    needed = sum(file.stat().st_size for file in files if file.exists())
    if folder.stat().st_dev == data.stat().st_dev:
        needed += _RESERVED_BYTES
    disk = os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize
    if free < needed:
        raise SystemExit(
            f"No backup was made: {folder} has {_megabytes(free)} of free space, "
            f"and a backup takes {_megabytes(needed)}."
        )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"


def _fill(draft: Path, data: Path) -> int:
    """Copy a data folder. Returns the bytes of the copy, which are on disk."""
    for name in STORES:
        with _naming(name):
            _copy_store(data / name, draft / name)
            if table := _NOT_COPIED.get(name):
                _empty(draft / name, table)
        check_store(draft / name)
        sync(draft / name)
    shutil.copy2(data / KEY_FILE, draft / KEY_FILE)
    sync(draft / KEY_FILE)
    return sum(file.stat().st_size for file in draft.iterdir())


def _not_running(data: Path) -> str:
    return (
        f"No backup was made: Atajo does not run over {data}. "
        "What does not run can be copied as a folder, with its journal."
    )


def _await_counted(data: Path) -> None:
    """Wait until analytics has acknowledged all visits that were answered so far.

    Raises SystemExit if it does not, or if no run on SQLite uses the folder.
    """
    metrics = _find_metrics_url(data)
    opener = build_opener(ProxyHandler({}))
    began = time.monotonic()
    text = ""
    while (now := time.monotonic()) < began + _DRAIN_TIMEOUT:
        try:
            with opener.open(metrics, timeout=_DRAIN_TIMEOUT) as response:
                text = response.read().decode()
        except URLError as error:
            if isinstance(error.reason, ConnectionRefusedError):  # The run was killed.
                raise SystemExit(_not_running(data)) from None
            raise
        found = _LAG.search(text)
        if found and now - float(found[1]) >= began:
            return
        time.sleep(0.05)
    if _RESTORING.search(text):
        raise SystemExit(
            "No backup was made: visits of an earlier run are still being read back. "
            "Try again in a minute or two."
        )
    raise SystemExit(
        "No backup was made: visits wait for analytics, which takes them too slowly or not at all."
    )


def _find_metrics_url(data: Path) -> str:
    """Return the metrics URL of the gateway of a run on SQLite. Raises SystemExit."""
    try:
        state = read_state(data) or {}
        metrics = f"http://{state['processes']['gateway']['metrics']}/metrics"
        store = state["store"]
    except (KeyError, TypeError):
        raise SystemExit(_not_running(data)) from None
    if store != "sqlite":
        raise SystemExit(
            "No backup was made: this run is over MongoDB, which has its own tools (mongodump)."
        )
    return metrics


def _copy_store(source: Path, target: Path) -> None:
    """Copy a consistent snapshot while other processes read and write."""
    with (
        closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as read,
        closing(sqlite3.connect(target)) as write,
    ):
        # Otherwise the copy would start over with each commit of another process.
        read.execute("BEGIN")
        read.execute("SELECT 1 FROM sqlite_schema").fetchone()
        read.backup(write, pages=_STEP_PAGES)


def _empty(store: Path, table: str) -> None:
    """Delete the rows of a table in a copy, and overwrite them in the file."""
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"DELETE FROM {table}")
        connection.commit()


def check_store(store: Path) -> int:
    """Return the version of a copy's schema. Moves its log into the file.

    Raises sqlite3.DatabaseError if the file is damaged.
    """
    with _naming(store.name), closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(" ".join(found.split()))
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        return version


@contextmanager
def _naming(store: str) -> Iterator[None]:
    """Let errors of SQLite name the store."""
    try:
        yield
    except sqlite3.Error as error:
        raise sqlite3.DatabaseError(f"{store}: {error}") from None
