"""Talks to the supervisor: the process that started this one, if it asks for that.

`ATAJO_READY_FD` names an inherited file descriptor, to which the process writes JSON lines:

- `{"upgrading": …}`: it upgrades the schema of a store first.
- `{"waiting": …, "cause": …}`: it waits for a store, for that cause; empty if it is unknown.
- `{"refused": …}`: it ends, for the reason in this line.
- Its addresses, once it serves. This line is the last one.

`ATAJO_AWAIT_STORE` asks it to wait, however long that takes, for a store that cannot be reached
yet. Without it, the process serves and becomes ready later, as replicas in a cluster do.

`ATAJO_LIFELINE_FD` names a file descriptor to read from. Its end of file means that the supervisor
is gone; the process then stops as on SIGTERM.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping

_READY = "ATAJO_READY_FD"
_LIFELINE = "ATAJO_LIFELINE_FD"
_AWAIT_STORE = "ATAJO_AWAIT_STORE"
_PAUSE_SECONDS = 1.0
"""Time between two attempts to reach a store."""

_stop: asyncio.Event | None = None
"""The event of `stop_event`."""


def report_ready(addresses: Mapping[str, str]) -> None:
    """Report the addresses this process listens on, by name. Nothing can be reported after it."""
    if _report(addresses):
        os.close(int(os.environ.pop(_READY)))


def report_upgrading(store: str) -> None:
    """Report that the schema of `store` must be upgraded before the process can serve."""
    _report({"upgrading": store})


def report_refused(line: str) -> bool:
    """Report why the process ends before it serves. Return False if nobody can be told."""
    return _report({"refused": line})


def awaits_store() -> bool:
    """Return whether the process waits for a store that cannot be reached yet."""
    return _AWAIT_STORE in os.environ


async def await_store(store: str, cause: str) -> None:
    """Report that `store` cannot be reached and why, and pause before the next attempt.

    Raises SystemExit if the process has to stop. Call it after `stop_event`.
    """
    assert _stop is not None
    _report({"waiting": store, "cause": cause})
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PAUSE_SECONDS):
            await _stop.wait()
        raise SystemExit(0)


def stop_event() -> asyncio.Event:
    """Return an event that SIGTERM, SIGINT or the end of the lifeline sets.

    Call it inside the event loop.
    """
    global _stop
    loop = asyncio.get_running_loop()
    stop = _stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    if fd := os.environ.get(_LIFELINE):

        def stop_at_end_of_file() -> None:
            loop.remove_reader(int(fd))
            stop.set()

        loop.add_reader(int(fd), stop_at_end_of_file)
    return stop


def _report(report: Mapping[str, str]) -> bool:
    fd = os.environ.get(_READY)
    if not fd:
        return False
    # A supervisor that no longer reads stops the process, or has ended itself.
    with contextlib.suppress(BrokenPipeError):
        os.write(int(fd), json.dumps(dict(report)).encode() + b"\n")
    return True
