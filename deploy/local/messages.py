"""What the supervisor says: lines in a terminal, or JSON log records that contain them."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from deploy.local.child import Failed
from deploy.local.settings import RunSettings
from services.shared.observability import logs


class Messages:
    """Says what happens to a run: in production as records on standard error, as its processes."""

    def __init__(self, settings: RunSettings) -> None:
        self._causes: dict[str, str] = {}
        """Why each process waits for the store."""
        self._cause: str | None = None
        """The cause that was said last."""
        self._log = None
        if settings.environment == "production":
            logs.configure("supervisor", settings.log_level)
            self._log = logs.get(__name__)

    def restored(self, replaced: Path) -> None:
        """Say that a restore was completed that had been interrupted, and what it replaced."""
        line = f"A restore that was interrupted is complete now. What was there before: {replaced}"
        self._say(logging.WARNING, "restore_completed", line)

    def ready(self, url: str) -> None:
        """Say that the product serves."""
        self._say(logging.INFO, "ready", f"Atajo is ready: {url}", url=url)

    def delayed(self, process: str, report: Mapping[str, str]) -> None:
        """Say why a process does not serve yet.

        All wait for the same store: it is said once, and again when the cause changes.
        """
        match report:
            case {"upgrading": store}:
                line = f"{process} upgrades {store} first."
                self._say(logging.WARNING, "store_upgrading", line, process=process)
            case {"waiting": store, "cause": cause}:
                changed = self._causes.get(process) != cause
                self._causes[process] = cause
                if changed and cause != self._cause:  # Not another process that is behind.
                    self._cause = cause
                    why = f" ({cause})" if cause else ""
                    line = f"{store} cannot be used{why}: Atajo waits for it."
                    self._say(logging.WARNING, "store_awaited", line)

    def failed(self, failure: Failed) -> None:
        """Say why the run ends. A refusal to start is always plain text, in every process."""
        if failure.process:
            self._say(logging.ERROR, "process_failed", str(failure), process=failure.process)
        else:
            _write(str(failure), sys.stderr)

    def killed(self, process: str) -> None:
        """Say that a process did not stop in time."""
        line = f"{process} did not stop in time and was killed."
        self._say(logging.WARNING, "process_killed", line, process=process)

    def backup_failed(self, line: str) -> None:
        """Say that no automatic backup was made."""
        self._say(logging.ERROR, "backup_failed", line)

    def unwritable(self, line: str) -> None:
        """Say that the data folder can no longer be written."""
        self._say(logging.ERROR, "data_folder_unwritable", line)

    def _say(self, level: int, event: str, line: str, **fields: str) -> None:
        if self._log:
            self._log.log(level, event, message=line, **fields)
        else:
            _write(line, sys.stdout if level == logging.INFO else sys.stderr)


def _write(line: str, stream: TextIO) -> None:
    stream.write(line + "\n")
    stream.flush()
