"""Replaces the data of a stopped Atajo on SQLite by a backup, completely or not at all.

How data is replaced
1. The backup is copied to `restoring.partial` in the data folder, checked there, and synced.
2. That is renamed to `restoring`. From here on the restore is completed, by this process or, if it
   is killed, by the next run or restore over the folder.
3. Each file of the run is moved to `restoring/replaced`, then its replacement takes its place. A
   file that is no longer in `restoring` has been replaced.
4. `restoring/replaced` is moved to `replaced`, with the time as its name. `restoring`, which is
   empty then, is deleted.

The visit journal is replaced by an empty one, or by the one of a stopped run's folder: it must not
be beside counts that are newer or of another run.
"""

from __future__ import annotations

import fcntl
import importlib
import shutil
import signal
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from deploy.local import backup
from deploy.local.backup import KEY_FILE, STORES
from deploy.local.folder import DRAFT, RESTORING, DataFolder, sync
from deploy.local.signals import ENDING_SIGNALS
from services.shared.backups import TIME_FORMAT

_REPLACED = "replaced"
_JOURNAL = "journal"
_NAMES = (_JOURNAL, KEY_FILE, *STORES)
"""What is replaced."""
_LOGS = ("", "-wal", "-shm", "-journal")
"""What SQLite appends to the name of a file for files that belong to it."""


@dataclass(frozen=True)
class RestoreResult:
    """Data that was restored: `restore`."""

    path: str
    """The data folder."""
    backup: str
    """Folder of the backup, which stays as it was."""
    replaced: str | None
    """Folder of what was there before; null if nothing was."""
    bytes: int
    """Size of the restored files."""
    seconds: float
    """How long it took."""


def restore(data: Path, source: Path) -> RestoreResult:
    """Replace the data of a folder by a backup. Creates the folder if necessary.

    Raises SystemExit with one line; then nothing was changed.
    """
    began = time.monotonic()
    try:
        backup.check_owner(data)
        _check_source(source, data)
    except OSError as error:
        raise SystemExit(f"Nothing was restored: {backup.describe(error)}.") from None
    # A backup of a run that was killed may still be copying what would be replaced.
    with DataFolder.held(data), backup.held(data):
        finish(data)
        _check_movable(data)
        draft = data / DRAFT
        try:
            _fill(draft, source)
            size = _check(draft, source)
        except (OSError, sqlite3.Error) as error:
            shutil.rmtree(draft, ignore_errors=True)
            raise SystemExit(f"Nothing was restored: {backup.describe(error)}.") from None
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        # What follows takes an instant.
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
        try:
            draft.rename(data / RESTORING)
            sync(data)
            replaced = finish(data)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
    seconds = round(time.monotonic() - began, 1)
    kept = str(replaced) if replaced else None
    return RestoreResult(str(data), str(source), kept, size, seconds)


def finish(data: Path) -> Path | None:
    """Complete an interrupted restore, or delete what it left if it had changed nothing yet.

    The data folder must be locked. Returns where it moved what was there before. Raises SystemExit
    with one line.
    """
    try:
        if (draft := data / DRAFT).exists():
            shutil.rmtree(draft)
        return _replace(data) if (data / RESTORING).exists() else None
    except OSError as error:
        raise SystemExit(
            f"A restore is not complete: {backup.describe(error)}. "
            "Remove the cause, then start Atajo or restore again."
        ) from None


def _replace(data: Path) -> Path | None:
    restoring = data / RESTORING
    kept = restoring / _REPLACED
    if not kept.is_dir() and any((restoring / name).exists() for name in _NAMES):
        raise SystemExit(f"{restoring} was not made by a restore: move it to another folder.")
    for name in _NAMES:
        if not (restoring / name).exists():
            continue
        for log in _LOGS:
            with suppress(FileNotFoundError):
                (data / f"{name}{log}").rename(kept / f"{name}{log}")
        sync(kept)
        (restoring / name).rename(data / name)
        sync(data)
    replaced = _keep(kept, data / _REPLACED) if kept.exists() else None
    restoring.rmdir()
    sync(data)
    return replaced


def _keep(kept: Path, folder: Path) -> Path | None:
    """Move what was replaced to a folder, with the time as its name; delete it if it is empty."""
    if not any(kept.iterdir()):
        kept.rmdir()
        return None
    folder.mkdir(exist_ok=True)
    now = f"{datetime.now(UTC):{TIME_FORMAT}}"
    names = (now if n == 1 else f"{now}-{n}" for n in count(1))
    replaced = next(path for name in names if not (path := folder / name).exists())
    kept.rename(replaced)
    sync(folder)
    return replaced


def _check_movable(data: Path) -> None:
    """Raise SystemExit if something that would be replaced is a disk of its own."""
    for name in _NAMES:
        if (path := data / name).is_mount():
            raise SystemExit(f"Nothing was restored: {path} is mounted, and cannot be moved.")


def _check_source(source: Path, data: Path) -> None:
    """Raise SystemExit unless a folder may be copied as it is."""
    if not source.is_dir():
        raise SystemExit(f"Nothing was restored: there is no folder {source}.")
    missing = [name for name in (*STORES, KEY_FILE) if not (source / name).is_file()]
    if missing:
        raise SystemExit(
            f"Nothing was restored: {source} is not a complete backup, "
            f"{' and '.join(missing)} is missing."
        )
    if data.exists() and source.samefile(data):
        raise SystemExit(f"Nothing was restored: {source} is the data folder itself.")
    with suppress(FileNotFoundError), (source / "lock").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(
                f"Nothing was restored: a run uses {source}. Make a backup of it instead."
            ) from None


def _fill(draft: Path, source: Path) -> None:
    """Copy a backup, or the folder of a stopped run with its logs and its journal."""
    draft.mkdir(mode=0o700)
    (draft / _REPLACED).mkdir()
    for name in STORES:
        shutil.copyfile(source / name, draft / name)
        with suppress(FileNotFoundError):
            shutil.copyfile(source / f"{name}-wal", draft / f"{name}-wal")
    if (source / _JOURNAL).is_dir():
        shutil.copytree(source / _JOURNAL, draft / _JOURNAL, copy_function=shutil.copyfile)
    else:
        (draft / _JOURNAL).mkdir()
    shutil.copyfile(source / KEY_FILE, draft / KEY_FILE)


def _check(draft: Path, source: Path) -> int:
    """Check what was copied, and wait until it is on disk. Returns its size in bytes.

    Raises sqlite3.Error or SystemExit if it cannot be used.
    """
    for name in STORES:
        version, known = backup.check_store(draft / name), _known_version(name)
        if not 0 < version <= known:
            why = (
                f"has schema version {version}; this version of Atajo knows up to {known}"
                if version
                else "is empty"
            )
            raise SystemExit(f"Nothing was restored: {source / name} {why}.")
    if not (draft / KEY_FILE).stat().st_size:
        raise SystemExit(f"Nothing was restored: {source / KEY_FILE} is empty.")
    paths = list(draft.rglob("*"))
    for path in (*paths, draft):
        sync(path)
    return sum(path.stat().st_size for path in paths if path.is_file())


def _known_version(name: str) -> int:
    """Return the newest version of a store's schema that this version of Atajo knows."""
    service = name.partition(".")[0]
    # By name: processes do not import each other.
    schema = importlib.import_module(f"services.{service}.storage.sqlite.schema")
    return len(schema.MIGRATIONS)
