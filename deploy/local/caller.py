"""Follows the `make` that started this process.

A terminal sends Ctrl-C to make and to this process, and make forwards a SIGTERM. But make does not
forward a SIGINT that only it receives: it waits forever. And a killed make forwards nothing.
"""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

_EVERY = 0.25
_MAKES = ("make", "gmake")


async def follow() -> None:
    """Raise SIGTERM when the make that started this process is interrupted or killed."""
    if "MAKELEVEL" not in os.environ:
        return
    caller = os.getppid()
    while True:
        await asyncio.sleep(_EVERY)
        if os.getppid() != caller or _interrupted(caller):
            signal.raise_signal(signal.SIGTERM)
            return


def _interrupted(caller: int) -> bool:
    """Return whether the caller is a make that is handling a SIGINT, which it then blocks.

    Other callers may block SIGINT for moments, as Python does to start a process. Linux only.
    """
    try:
        status = Path(f"/proc/{caller}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    is_blocked = int(fields.get("SigBlk", "0"), 16) & 1 << (signal.SIGINT - 1)
    return fields.get("Name") in _MAKES and bool(is_blocked)
