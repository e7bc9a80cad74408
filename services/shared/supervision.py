"""How a process tells the one that started it where it listens, and notices its end.

`ATAJO_READY_FD` names an inherited file descriptor: one JSON line is written to it once the
process serves. A line `{"upgrading": …}` ahead of it says that a store is brought up to date
first, which takes as long as it takes. `ATAJO_LIFELINE_FD` names one to read from: its end of file
means that the starter is gone, and the process then stops as on SIGTERM.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
from collections.abc import Mapping

_READY = "ATAJO_READY_FD"
_LIFELINE = "ATAJO_LIFELINE_FD"


def announce(addresses: Mapping[str, str]) -> None:
    """Report the addresses this process listens on, where somebody asked for them.

    What its start made stays until its end: the garbage collector need not look at it again. What
    comes after seldom has cycles, and looking for them after every 700 new objects, as Python does
    by itself, was a twentieth of what a redirect cost.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    fd = os.environ.get(_READY)
    if fd is None:
        return
    with os.fdopen(int(fd), "w", encoding="utf-8") as pipe:
        pipe.write(json.dumps(dict(addresses)) + "\n")


def ask_for_patience(store: str) -> None:
    """Report that `store` is brought up to date first, where somebody waits for the addresses."""
    if fd := os.environ.get(_READY):
        os.write(int(fd), json.dumps({"upgrading": store}).encode() + b"\n")


def stop_requested() -> asyncio.Event:
    """An event that SIGTERM, SIGINT or the end of the lifeline sets. Call inside the loop."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    if fd := os.environ.get(_LIFELINE):

        def ended() -> None:
            loop.remove_reader(int(fd))
            stop.set()

        loop.add_reader(int(fd), ended)
    return stop
