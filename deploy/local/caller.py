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


async def follow() -> None:
    """Once the make that started this process was interrupted or killed, stop as on SIGTERM."""
    if "MAKELEVEL" not in os.environ:
        return
    make = os.getppid()
    while True:
        await asyncio.sleep(_EVERY)
        if os.getppid() != make or _interrupted(make):
            signal.raise_signal(signal.SIGTERM)
            return


def _interrupted(make: int) -> bool:
    """Whether it handles a SIGINT: that is blocked then, and at no other time. Linux only."""
    try:
        status = Path(f"/proc/{make}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    blocked = next((line for line in status.splitlines() if line.startswith("SigBlk:")), "SigBlk:0")
    return bool(int(blocked.removeprefix("SigBlk:"), 16) & 1 << (signal.SIGINT - 1))
