"""Tests that run concurrently, and tests that need exclusive access."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path

from tests.support.processes import TIMEOUT_SECONDS
from tests.support.waiting import wait_until
from tests.support.worker_lock import WorkerLock


def test_an_exclusive_test_waits_for_the_running_ones_and_holds_up_later_ones(
    tmp_path: Path,
) -> None:
    events: list[str] = []
    inside, leave = threading.Barrier(3), threading.Event()

    def shared() -> None:
        with WorkerLock(tmp_path).hold(exclusive=False):
            inside.wait(TIMEOUT_SECONDS)
            leave.wait(TIMEOUT_SECONDS)
            events.append("shared")

    def exclusive() -> None:
        with WorkerLock(tmp_path).hold(exclusive=True):
            events.append("exclusive")

    def late() -> None:
        with WorkerLock(tmp_path).hold(exclusive=False):
            events.append("late")

    threads = [threading.Thread(target=role) for role in (shared, shared, exclusive, late)]
    for thread in threads[:2]:
        thread.start()
    inside.wait(TIMEOUT_SECONDS)  # Both hold it at the same time.
    threads[2].start()
    wait_until(lambda: is_held(tmp_path / "queue.lock"), 10.0)
    threads[3].start()
    leave.set()
    for thread in threads:
        thread.join(TIMEOUT_SECONDS)
    assert events == ["shared", "shared", "exclusive", "late"]


def is_held(lock: Path) -> bool:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
