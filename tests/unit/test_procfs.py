"""/proc is read while threads end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from tests.procfs import children_of, niceness_of_threads

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

_ROUNDS = 300


def test_threads_that_end_meanwhile_do_no_harm() -> None:
    done = threading.Event()

    def churn() -> None:
        while not done.is_set():
            thread = threading.Thread(target=lambda: None)
            thread.start()
            thread.join()

    churning = [threading.Thread(target=churn) for _ in range(2)]
    with subprocess.Popen(["sleep", "600"]) as child:
        for thread in churning:
            thread.start()
        try:
            for _ in range(_ROUNDS):
                assert niceness_of_threads(os.getpid()) == {os.getpriority(os.PRIO_PROCESS, 0)}
                assert child.pid in children_of(os.getpid())
        finally:
            done.set()
            for thread in churning:
                thread.join()
            child.kill()


def test_the_child_of_a_thread_that_has_ended_is_found() -> None:
    started: list[subprocess.Popen[bytes]] = []
    thread = threading.Thread(target=lambda: started.append(subprocess.Popen(["sleep", "600"])))
    thread.start()
    thread.join()
    (child,) = started
    with child:
        try:
            assert child.pid in children_of(os.getpid())
        finally:
            child.kill()
    assert child.pid not in children_of(os.getpid())
