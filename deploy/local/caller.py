"""The `make` that started this run.

A terminal sends Ctrl-C to make and to us, and make passes a SIGTERM on. A SIGINT sent to make
alone it keeps to itself and then waits for us for ever; and a make that was killed is gone.
"""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

_EVERY = 0.25
_MAKES = ("make", "gmake")


async def follow() -> None:
    """Once the make that started this process was interrupted or killed, stop as on SIGTERM."""
    if "MAKELEVEL" not in os.environ:
        return
    caller = os.getppid()
    while True:
        await asyncio.sleep(_EVERY)
        if os.getppid() != caller or _interrupted(caller):
            signal.raise_signal(signal.SIGTERM)
            return


def _interrupted(caller: int) -> bool:
    """Whether it is a make that handles a SIGINT: that is blocked then, and at no other time.

    Others who call us block it for moments, Python while it starts a process. Linux only.
    """
    try:
        status = Path(f"/proc/{caller}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    is_blocked = int(fields.get("SigBlk", "0"), 16) & 1 << (signal.SIGINT - 1)
    return fields.get("Name") in _MAKES and bool(is_blocked)
