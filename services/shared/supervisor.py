"""Talks to the supervisor: the process that started this one, if it asks for that.

`ATAJO_READY_FD` names an inherited file descriptor. Once the process serves, it writes one JSON
line with its addresses there. A line `{"upgrading": …}` before it reports a schema upgrade, which
has no time limit.

`ATAJO_LIFELINE_FD` names a file descriptor to read from. Its end of file means that the supervisor
is gone; the process then stops as on SIGTERM.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Mapping

_READY = "ATAJO_READY_FD"
_LIFELINE = "ATAJO_LIFELINE_FD"


def report_ready(addresses: Mapping[str, str]) -> None:
    """Report the addresses this process listens on, by name."""
    if fd := os.environ.get(_READY):
        with os.fdopen(int(fd), "w", encoding="utf-8") as pipe:
            pipe.write(json.dumps(dict(addresses)) + "\n")


def report_upgrading(store: str) -> None:
    """Report that the schema of `store` must be upgraded before the process can serve."""
    if fd := os.environ.get(_READY):
        os.write(int(fd), json.dumps({"upgrading": store}).encode() + b"\n")


def stop_event() -> asyncio.Event:
    """Return an event that SIGTERM, SIGINT or the end of the lifeline sets.

    Call it inside the event loop.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    if fd := os.environ.get(_LIFELINE):

        def stop_at_end_of_file() -> None:
            loop.remove_reader(int(fd))
            stop.set()

        loop.add_reader(int(fd), stop_at_end_of_file)
    return stop
