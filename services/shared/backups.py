"""Automatic backups of a data folder: where they are, and what marks them.

The local run makes them (deploy/local/schedule.py); the gateway reports the newest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

FOLDER = "backups"
"""Where automatic backups are in a data folder."""
TIME_FORMAT = "%Y-%m-%dT%H%M%SZ"
"""How UTC times are written in the names of folders."""
MARK = "scheduled"
"""An empty file in each automatic backup. No other backup is ever deleted."""


@dataclass(frozen=True, order=True)
class ScheduledBackup:
    """An automatic backup."""

    made_at: datetime
    path: Path


def find_backups(folder: Path) -> list[ScheduledBackup]:
    """Return the automatic backups in a folder, the oldest first. Empty if there is no folder."""
    found = []
    for mark in folder.glob(f"*/{MARK}"):
        path = mark.parent
        try:
            made_at = datetime.strptime(path.name, TIME_FORMAT).replace(tzinfo=UTC)
        except ValueError:  # It was renamed, to be kept.
            continue
        found.append(ScheduledBackup(made_at, path))
    return sorted(found)


def find_last_backup(folder: Path) -> datetime | None:
    """Return when the newest automatic backup in a folder was made; None if there is none.

    A backup of the future, from a clock that was ahead, does not count.
    """
    now = datetime.now(UTC)
    return max((each.made_at for each in find_backups(folder) if each.made_at <= now), default=None)
