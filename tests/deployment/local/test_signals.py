"""Signals to a supervisor that is process 1, as in a container: Linux ignores them by default."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from tests.deployment.local.test_run import STOP_SECONDS, LocalRun
from tests.support.procfs import children_of, read
from tests.support.waiting import wait_until

UNSHARE = ("unshare", "--pid", "--fork", "--kill-child")
SIGNALS = (signal.SIGTERM, signal.SIGINT)


@cache
def as_process_1() -> tuple[str, ...]:
    """Return the command that runs another as process 1, as root or as any user.

    Skips the test where neither may: in a container without privileges.
    """
    for command in (UNSHARE, (*UNSHARE, "--map-root-user")):
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            return command
    pytest.skip("Process namespaces are not permitted here.")


class Init:
    """A run whose supervisor is process 1 of a namespace, where `pid` is its id outside."""

    def __init__(self, folder: Path) -> None:
        self.run = LocalRun(folder, by=as_process_1())
        wait_until(lambda: bool(children_of(self.run.popen.pid)))
        (self.pid,) = children_of(self.run.popen.pid)

    def handles(self, number: signal.Signals) -> bool:
        """Return whether the supervisor has a handler of a signal."""
        lines = read(Path(f"/proc/{self.pid}/status")).splitlines()
        masks = [line.split()[1] for line in lines if line.startswith("SigCgt:")]
        return bool(masks) and bool(int(masks[0], 16) & 1 << (number - 1))

    def stop(self, number: signal.Signals) -> tuple[int, str, str]:
        os.kill(self.pid, number)
        started = time.monotonic()
        ended = self.run.end()
        assert time.monotonic() - started < STOP_SECONDS
        return ended


@contextmanager
def init(folder: Path) -> Iterator[Init]:
    supervisor = Init(folder)
    with supervisor.run:
        yield supervisor


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_it_from_the_first_instruction_on(
    tmp_path: Path, number: signal.Signals
) -> None:
    with init(tmp_path / "data") as supervisor:
        wait_until(lambda: supervisor.handles(signal.SIGTERM))  # Python itself handles SIGINT.
        assert not children_of(supervisor.pid), "it has not begun to import"
        assert supervisor.stop(number) == (0, "", "")
    assert not (tmp_path / "data").exists()


def test_a_signal_is_handled_at_any_time_after_that(tmp_path: Path) -> None:
    with init(tmp_path) as supervisor:
        wait_until(lambda: supervisor.handles(signal.SIGTERM))
        is_over = threading.Event()
        missing: list[float] = []

        def look() -> None:
            while not is_over.is_set():
                if not supervisor.handles(signal.SIGTERM):
                    missing.append(time.monotonic())

        looking = threading.Thread(target=look)
        looking.start()
        assert supervisor.run.popen.stdout is not None
        line = supervisor.run.popen.stdout.readline()
        is_over.set()
        looking.join()
        assert line.startswith("Atajo is ready")
        assert missing == []
        assert supervisor.stop(signal.SIGTERM) == (0, "", "")


@pytest.mark.parametrize("seconds", [0.2, 0.5, 0.9, 1.4, 2.0])
def test_a_signal_during_the_start_ends_it(tmp_path: Path, seconds: float) -> None:
    with init(tmp_path) as supervisor:
        wait_until(lambda: supervisor.handles(signal.SIGTERM))
        time.sleep(seconds)
        code, _, stderr = supervisor.stop(signal.SIGTERM)
    assert (code, stderr) == (0, "")
    assert not (tmp_path / "run.json").exists()
