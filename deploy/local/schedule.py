"""Automatic backups of a run: when the next one is due, and which ones there are.

The supervisor waits, and starts a process for each backup (rotation.py), which does the work. The
next backup is due by the name of the newest one, so that restarts neither multiply backups nor
delay them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen

from deploy.local.settings import ROOT, RunSettings
from services.shared.backups import FOLDER, find_last_backup

NOT_DELETED = 3
"""Exit code of a process that made a backup, but could not delete older ones."""
_MAX_SLEEP = timedelta(minutes=1)
"""The clock is read again after this time: it may be set, or the machine may sleep."""
_FIRST_RETRY = timedelta(minutes=1)
_MAX_RETRY = timedelta(hours=1)
_STOP_SECONDS = 0.5
"""Time for a backup to delete what it left incomplete, when the run stops. The next one does it
otherwise."""


async def back_up(settings: RunSettings, report: Callable[[str], None]) -> None:
    """Back up every `settings.backup_hours` until cancelled.

    A failure is reported as one line, and followed by another attempt.
    """
    assert settings.backup_hours
    interval = timedelta(hours=settings.backup_hours)
    delay = _FIRST_RETRY
    while True:
        await _await_due(settings.data_dir, interval)
        failure = await _make_backup(settings, report)
        if failure is None:
            delay = _FIRST_RETRY
        else:
            pause = min(delay, interval)
            report(f"{failure} The next attempt is in {max(1, pause // timedelta(minutes=1))} min.")
            await asyncio.sleep(pause.total_seconds())
            delay = min(2 * delay, _MAX_RETRY)


async def _await_due(data: Path, interval: timedelta) -> None:
    while True:
        now = datetime.now(UTC)
        # A clock that was ahead must not prevent backups.
        last = find_last_backup(data / FOLDER)
        remaining = last + interval - now if last else timedelta()
        if remaining <= timedelta():
            return
        await asyncio.sleep(min(remaining, _MAX_SLEEP).total_seconds())


async def _make_backup(settings: RunSettings, report: Callable[[str], None]) -> str | None:
    """Make a backup, and delete the oldest ones beyond the number to keep.

    Returns why no backup was made. Reports why older ones were not deleted.
    """
    try:
        process = _start(settings)
    except OSError as error:
        return f"No backup was made: {error.strerror}."
    # asyncio's own processes may be waited for twice, with a warning, if they are signaled.
    ended = asyncio.create_task(asyncio.to_thread(process.communicate))
    try:
        _, written = await asyncio.shield(ended)
    except asyncio.CancelledError:
        process.terminate()
        await asyncio.wait({ended}, timeout=_STOP_SECONDS)
        process.kill()
        raise
    if process.returncode == 0:
        return None
    lines = written.splitlines()
    if process.returncode == NOT_DELETED:
        report(lines[-1])
        return None
    return lines[-1] if lines else f"No backup was made: it ended with code {process.returncode}."


def _start(settings: RunSettings) -> Popen[str]:
    module = ("-m", "deploy.local.rotation")
    return Popen(  # noqa: S603 - only paths and numbers vary.
        [sys.executable, *module, str(settings.data_dir), str(settings.backups_kept)],
        cwd=ROOT,
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=PIPE,
        text=True,
        errors="replace",
    )
