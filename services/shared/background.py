"""Tasks that nobody waits for, and what becomes of the process when one of them breaks.

A task whose end nobody awaits would take its error to the grave, and the process would go on
without it: visits that nobody sends, a health that nobody looks at. Here such an error is logged as
`background_task_failed`, counted in `atajo_background_failures_total`, and stops the process in
good order. It then exits with status 1: a kubelet starts it anew, `make run` ends and says so.

Work that comes again and again, and that others do not hang on, may go on instead: `each_turn`.

The process's main calls `stop_on_failure` with the event it waits for, and `exit_if_failed` at its
end. Without the first, as in a test of a part, failures are logged and counted alone.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from pathlib import Path
from typing import Any

from prometheus_client import Counter

from services.shared.errors import AppError
from services.shared.observability import logs

log = logs.get(__name__)

_NICENESS = 5
"""A processor that this process and another both want goes to the other three times in four."""
_SESSION = Path("/proc/self/autogroup")

FAILURES = Counter(
    "atajo_background_failures",
    "Background tasks that an unforeseen error ended, by task; the process stops after the first.",
    ["task"],
)


class _Process:
    """What is known of this process: its unfinished tasks, whether one broke, how to stop it."""

    def __init__(self) -> None:
        self.running: set[asyncio.Task[None]] = set()
        self.failed = False
        self.stop: Callable[[], object] | None = None


_process = _Process()


def give_way() -> None:
    """Let those who answer people go first where processes share a processor.

    For a process that counts and tidies. Call it before threads begin: each has a niceness of its
    own, which it takes from the thread that began it.
    """
    os.nice(_NICENESS)
    # Linux may share the processor out among sessions first. Each process of `make run` has one.
    if os.getsid(0) == os.getpid() and _SESSION.exists():
        try:
            _SESSION.write_text(str(_NICENESS))
        except OSError as error:  # So it goes as fast as the others do.
            log.info("session_not_niced", error=str(error))


def run(
    work: Coroutine[Any, Any, None], name: str, context: Context | None = None
) -> asyncio.Task[None]:
    """Start a task in the running loop, and note its end where an error caused it.

    It may return, and whoever has the task may cancel it: neither is a failure. `name` stands in
    the log, in the metric's label and in the task; take one of few.
    """
    FAILURES.labels(name)  # There from the start: who looks for a rise needs its zero.
    task = asyncio.get_running_loop().create_task(work, name=name, context=context)
    _process.running.add(task)  # The loop itself holds tasks weakly.
    task.add_done_callback(_ended)
    return task


@contextmanager
def each_turn(log: logs.Throttled, work: str) -> Iterator[None]:
    """The body is a turn of work that is tried again: what it raises is logged and goes no further.

    An AppError is the warning `<work>_failed` with its reason, any other the error `<work>_broke`.
    To end the process would end what it serves, too, and the next one would meet the same.
    """
    try:
        yield
    except AppError as error:
        log.warning(f"{work}_failed", reason=error.reason)
    except Exception as error:
        log.error(f"{work}_broke", exc_info=error)


def failed(name: str, error: BaseException) -> None:
    """Note that background work which is no task, such as a thread's, broke. For any thread."""
    _process.failed = True
    FAILURES.labels(name).inc()
    log.error("background_task_failed", task=name, exc_info=error)
    if _process.stop:
        _process.stop()


def stop_on_failure(stop: asyncio.Event) -> None:
    """From here on a failure sets `stop`, one that came before included. Call inside the loop."""
    loop = asyncio.get_running_loop()

    def request() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)

    _process.stop = request
    if _process.failed:
        stop.set()


def exit_if_failed() -> None:
    """Raise SystemExit with status 1 if any background work broke. Call after the loop's end."""
    _process.stop = None
    if _process.failed:
        raise SystemExit(1)


def _ended(task: asyncio.Task[None]) -> None:
    _process.running.discard(task)
    if not task.cancelled():
        error = task.exception()
    elif task.cancelling():
        error = None
    else:  # Nobody asked for it: something that the task waited for was cancelled.
        error = asyncio.CancelledError("what it waited for was cancelled")
    if error is not None:
        failed(task.get_name(), error)
