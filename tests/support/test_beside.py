"""Tests beside each other, and those that must be alone."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path

from tests.support.beside import Turns
from tests.support.processes import PATIENCE
from tests.support.waiting import await_that


def test_who_must_be_alone_waits_for_the_others_and_none_comes_between(tmp_path: Path) -> None:
    happened: list[str] = []
    inside, leave = threading.Barrier(3), threading.Event()

    def one_of_two() -> None:
        with Turns(tmp_path).turn(alone=False):
            inside.wait(PATIENCE)
            leave.wait(PATIENCE)
            happened.append("one of two")

    def alone() -> None:
        with Turns(tmp_path).turn(alone=True):
            happened.append("alone")

    def late() -> None:
        with Turns(tmp_path).turn(alone=False):
            happened.append("late")

    threads = [threading.Thread(target=role) for role in (one_of_two, one_of_two, alone, late)]
    for one in threads[:2]:
        one.start()
    inside.wait(PATIENCE)  # Both are in: they do not wait for each other.
    threads[2].start()
    await_that(lambda: is_held(tmp_path / "door.lock"), 10.0)
    threads[3].start()
    leave.set()
    for one in threads:
        one.join(PATIENCE)
    assert happened == ["one of two", "one of two", "alone", "late"]


def is_held(lock: Path) -> bool:
    with lock.open("w") as tried:
        try:
            fcntl.flock(tried, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
