"""Makes a backup of the schedule, and deletes those beyond the number to keep.

python -m deploy.local.rotation DATA KEPT
"""

from __future__ import annotations

import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

from deploy.local import backup
from deploy.local.folder import TIME_FORMAT, UMASK
from deploy.local.schedule import FOLDER, MARK, find_backups

_NICENESS = 10
"""Who waits for an answer goes first."""


def main(data: Path, kept: int) -> None:
    folder = data / FOLDER
    try:
        if folder.is_dir():
            backup.delete_leftovers(folder)
        made_at = datetime.now(UTC)
        backup.back_up(data, folder / f"{made_at:{TIME_FORMAT}}", mark=MARK)
        delete_oldest(data, kept, made_at)
    except OSError as error:
        raise SystemExit(f"Old backups were not deleted: {backup.describe(error)}.") from None


def delete_oldest(data: Path, kept: int, now: datetime) -> None:
    """Delete the oldest backups of the schedule until `kept` are left. Raises OSError.

    Those of the future are the oldest ones: the clock was ahead when they were made.
    """
    found = sorted(find_backups(data), key=lambda each: (each.made_at <= now, each.made_at))
    for each in found[:-kept]:
        # Without its name, what is left of it is no backup any more.
        leftover = each.path.with_name(f"{each.path.name}.deleted{backup.DRAFT_SUFFIX}")
        each.path.rename(leftover)
        shutil.rmtree(leftover)


if __name__ == "__main__":
    os.nice(_NICENESS)
    os.umask(UMASK)
    backup.unwind_at_signals()
    main(Path(sys.argv[1]), int(sys.argv[2]))
