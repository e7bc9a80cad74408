"""Makes a backup of the schedule, and deletes those beyond the number to keep.

python -m deploy.local.rotation DATA KEPT
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from deploy.local import backup
from deploy.local.folder import UMASK
from deploy.local.schedule import NOT_DELETED
from services.shared.backups import FOLDER, MARK, TIME_FORMAT, find_backups

_NICENESS = 10
"""Processes that answer requests run first."""


def main(data: Path, kept: int) -> None:
    """Raises SystemExit with one line: if a backup was made nevertheless, with `NOT_DELETED`."""
    made_at = datetime.now(UTC)
    folder = data / FOLDER
    failures = []
    # First, because what interrupted backups left takes the space of this one.
    if folder.is_dir() and (failure := _describe_failure(lambda: backup.delete_leftovers(folder))):
        failures.append(failure)
    backup.back_up(data, folder / f"{made_at:{TIME_FORMAT}}", mark=MARK)
    if failure := _describe_failure(lambda: delete_oldest(folder, kept, made_at)):
        failures.append(failure)
    if failures:
        sys.stderr.write(f"Old backups were not deleted: {'; '.join(failures)}.\n")
        raise SystemExit(NOT_DELETED)


def _describe_failure(delete: Callable[[], None]) -> str | None:
    try:
        delete()
    except OSError as error:
        return backup.describe(error)
    return None


def delete_oldest(folder: Path, count: int, now: datetime) -> None:
    """Delete the oldest backups of the schedule until `count` are left. Raises OSError.

    Backups of the future count as the oldest ones: the clock was ahead when they were made.
    """
    found = sorted(
        find_backups(folder), key=lambda scheduled: (scheduled.made_at <= now, scheduled)
    )
    for scheduled in found[:-count]:
        # Without its name, what is left of it is no backup any more.
        leftover = scheduled.path.with_name(f"{scheduled.path.name}.deleted{backup.DRAFT_SUFFIX}")
        scheduled.path.rename(leftover)
        shutil.rmtree(leftover)


if __name__ == "__main__":
    os.nice(_NICENESS)
    os.umask(UMASK)
    backup.unwind_at_signals()
    main(Path(sys.argv[1]), int(sys.argv[2]))
