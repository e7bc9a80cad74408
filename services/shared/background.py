"""Background tasks, and the end of the process when one of them fails.

Nobody awaits a background task, so its error would be lost and the process would go on without it:
visits would not be sent, health would not be checked. Here such an error is logged as
`background_task_failed`, counted in `atajo_background_failures_total`, and stops the process in
good order with exit status 1. A kubelet then restarts it; `make run` ends and names it.

A task that repeats its work may go on after an error instead: see `log_errors`.

The main function of a process calls `stop_on_failure` with the event it waits for, and
`exit_if_failed` at its end. Without the first, as in a unit test, failures are only logged and
counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from prometheus_client import Counter

from services.shared.errors import AppError
from services.shared.observability import logs

log = logs.get(__name__)

FAILURES = Counter(
    "atajo_background_failures",
    "Background tasks that ended with an unexpected error, by task. The process stops after the "
    "first.",
    ["task"],
)


class _Process:
    """The background work of this process: tasks that run, whether any failed, how to stop."""

    def __init__(self) -> None:
        self.running: set[asyncio.Task[None]] = set()
        self.failed = False
        self.stop: Callable[[], object] | None = None


_process = _Process()


def start_task(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """Start a task in the running event loop, and report it if an error ends it.

    A task that returns or that its owner cancels has not failed. `name` names the task in the log
    and in the metric's label, so it must be one of a few fixed names.
    """
    FAILURES.labels(name)  # An alert on an increase needs the initial zero.
    task = asyncio.get_running_loop().create_task(work, name=name)
    _process.running.add(task)  # The event loop itself only has weak references.
    task.add_done_callback(_on_task_done)
    return task


@asynccontextmanager
async def running(work: Coroutine[Any, Any, None], name: str) -> AsyncIterator[None]:
    """Run a task (see `start_task`) until the body ends."""
    task = start_task(work, name)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


@contextmanager
def log_errors(log: logs.Throttled, work: str) -> Iterator[None]:
    """Log any error of the body instead of raising it, for work that is repeated anyway.

    Logs an AppError as the warning `<work>_failed` with its reason, any other exception as the
    error `<work>_error`. Ending the process would not help: the next one would meet the same error.
    """
    try:
        yield
    except AppError as error:
        log.warning(f"{work}_failed", reason=error.reason)
    except Exception as error:
        log.error(f"{work}_error", exc_info=error)


def report_failure(name: str, error: BaseException) -> None:
    """Report that background work other than a task, such as a thread, failed. Thread-safe."""
    _process.failed = True
    FAILURES.labels(name).inc()
    log.error("background_task_failed", task=name, exc_info=error)
    if _process.stop:
        _process.stop()


def stop_on_failure(stop: asyncio.Event) -> None:
    """Set `stop` on the first failure, including an earlier one. Call inside the event loop."""
    loop = asyncio.get_running_loop()

    def request() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(stop.set)

    _process.stop = request
    if _process.failed:
        stop.set()


def exit_if_failed() -> None:
    """Raise SystemExit with status 1 if any background work failed. Call after the loop ended."""
    _process.stop = None
    if _process.failed:
        raise SystemExit(1)


def _on_task_done(task: asyncio.Task[None]) -> None:
    _process.running.discard(task)
    if not task.cancelled():
        error = task.exception()
    elif task.cancelling():
        error = None
    else:  # Nobody cancelled the task itself: something that it awaited was cancelled.
        error = asyncio.CancelledError("what it waited for was cancelled")
    if error is not None:
        report_failure(task.get_name(), error)
