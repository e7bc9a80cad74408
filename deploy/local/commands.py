"""The commands of `atajo` that services/admin does not have, and what they print."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path

from deploy.local import backup, health, restore, run
from deploy.local.folder import UMASK
from deploy.local.settings import RunSettings
from services.admin.arguments import FurtherCommand, Program, parse_required
from services.admin.commands import Outcome
from services.admin.program import execute as execute_program
from services.shared.environment import PREFIX

_DESCRIPTION = """\
Runs Atajo on this machine, backs it up and restores it; reads reports, blocks and unblocks,
removes links and accounts. Without arguments it runs Atajo."""


def execute(arguments: Sequence[str]) -> None:
    """Execute the command that the arguments name. Raises SystemExit if it fails."""
    os.umask(UMASK)
    backup.unwind_at_signals()
    # An empty variable counts as unset, as for the run, whose environment this shares.
    for name in [name for name, value in os.environ.items() if not value]:
        if name.startswith(PREFIX):
            del os.environ[name]
    execute_program(Program(_find_name(), _DESCRIPTION, _COMMANDS), arguments)


def _find_name() -> str:
    """Return how the program was called."""
    called = Path(sys.argv[0]).name
    return "python -m deploy.local" if called == "__main__.py" else called


def _run(_: Namespace) -> None:
    run.run()


def _check_health(arguments: Namespace) -> None:
    health.check(as_json=arguments.json)


def _back_up(arguments: Namespace) -> Outcome:
    made = backup.back_up(RunSettings.load().data_dir, arguments.folder)
    return Outcome(f"Backed up to {made.path}.", made)


def _restore(arguments: Namespace) -> Outcome:
    settings = RunSettings.load()
    if settings.store:
        raise SystemExit("Nothing was restored: data in MongoDB is restored by mongorestore.")
    restored = restore.restore(settings.data_dir, arguments.folder)
    text = f"Restored {restored.path} from {restored.backup}."
    if restored.replaced:
        text += f"\nWhat was there before is in {restored.replaced}"
    return Outcome(text, restored)


def _add_folder(command: ArgumentParser) -> None:
    command.add_argument("folder", metavar="FOLDER", type=_parse_folder, help="the backup's folder")


def _parse_folder(marked: str) -> Path:
    text = parse_required(marked)
    if text.startswith("-"):
        raise ArgumentTypeError("put options before COMMAND; write ./-x for a folder -x")
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:  # There is no such user.
        raise ArgumentTypeError(str(error)) from None


_COMMANDS = (
    FurtherCommand(
        "run",
        "run Atajo until it is stopped",
        "Runs Atajo until it is stopped. All data is in one folder, ATAJO_DATA_DIR.",
        "run",
        _run,
    ),
    FurtherCommand(
        "health",
        "succeed if Atajo runs and serves",
        "Succeeds if Atajo runs and serves; else says why not, and exits with 1.",
        "health",
        _check_health,
    ),
    FurtherCommand(
        "backup",
        "back up a running Atajo to a new folder",
        "Backs up a running Atajo on SQLite to a new folder, which then has everything that was\n"
        "acknowledged before the backup began.",
        "backup /data/backups/monday",
        _back_up,
        _add_folder,
    ),
    FurtherCommand(
        "restore",
        "replace the data of a stopped Atajo by a backup",
        "Replaces all data of a stopped Atajo on SQLite by a backup, which stays as it is. Moves\n"
        "what was there before to a folder, and names it. If it is killed, either nothing has\n"
        "changed or the next start completes it.",
        "restore /data/backups/monday",
        _restore,
        _add_folder,
    ),
)
