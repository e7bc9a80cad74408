"""Runs the product on this machine until it is stopped: `atajo run`."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import NoReturn

from deploy.local import child
from deploy.local.folder import UMASK, DataFolder
from deploy.local.messages import Messages
from deploy.local.settings import (
    RunSettings,
    check_own_settings,
    check_ports_free,
    check_web_built,
)
from deploy.local.signals import end_at_signals
from deploy.local.store import check_complete
from deploy.local.supervisor import MODULES, supervise


def run() -> NoReturn:
    """Run the product, and exit with its code. Raises SystemExit."""
    end_at_signals()
    settings = RunSettings.load()
    check_own_settings()
    os.umask(UMASK)  # The processes inherit it.
    # Fork before the folder's lock is opened: the children must not inherit it.
    forked = child.fork(list(MODULES.values()))
    with DataFolder.held(settings.data_dir) as folder:
        check_ports_free(settings)
        check_web_built()
        messages = Messages(settings)
        if folder.is_restoring:
            _finish_restore(folder, messages)
        folder.ensure_secret()
        if not settings.store:
            check_complete(folder.path)
        code = asyncio.run(supervise(settings, folder, forked, messages))
    sys.exit(code)


def _finish_restore(folder: DataFolder, messages: Messages) -> None:
    from deploy.local.restore import finish  # Hardly any start needs it.

    if replaced := finish(folder.path):
        messages.restored(replaced)
