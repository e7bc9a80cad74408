"""Processes of the product, forked from one that has imported their module.

Imports are most of what a start costs, and tests start a thousand processes: so each of them begins
where its imports are done. It is a process of its own all the same, with descriptors, settings, an
end and a log of its own; neither gRPC nor a thread was begun before the fork. What a start from the
command line does beside, `make run` shows (tests/deployment/local/test_run.py).
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_ROOM = 1 << 20
"""Bytes that hold the settings of any process."""


class Forked:
    """A process forked from a warm one, with what tests use of `subprocess.Popen`."""

    def __init__(self, told: socket.socket) -> None:
        self._told = told
        """Its pid is read from there, a line, and at its end its exit code."""
        self._looking = threading.Lock()
        line = b""
        while not line.endswith(b"\n"):
            if not (byte := told.recv(1)):
                told.close()
                raise RuntimeError("The warm process is gone.")
            line += byte
        self.pid = int(line)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code once it has ended, negative for a signal. Till then its pid is its own."""
        with self._looking:
            if self.returncode is None and select.select([self._told], [], [], 0)[0]:
                code = self._told.recv(16)
                with contextlib.suppress(ConnectionError):
                    self._told.send(b".")
                    self._told.recv(1)  # Nothing is left of it then.
                self._told.close()
                # Where the warm one was killed, nobody knows how this one ended.
                self.returncode = int(code or -signal.SIGKILL)
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; returns its exit code. Raises TimeoutExpired."""
        ends = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            left = None if ends is None else ends - time.monotonic()
            if left is not None and left <= 0:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self._await_word(left)
        return code

    def _await_word(self, seconds: float | None) -> None:
        # Another thread may see the end first, and close what is waited for.
        with contextlib.suppress(ValueError, OSError):
            select.select([self._told], [], [], min(0.5, 0.5 if seconds is None else seconds))

    def send_signal(self, number: int) -> None:
        """Send a signal, where it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to stop."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class Warm:
    """A process that has imported a module, and is asked for others that run it."""

    def __init__(self, module: str, env: Mapping[str, str], root: Path) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.warm", module, str(theirs.fileno())],
                cwd=root,
                env=dict(env),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        atexit.register(self._end)

    def fork(self, settings: Mapping[str, str], ready: int, lifeline: int, stderr: int) -> Forked:
        """Start a process that runs the module with these settings and descriptors."""
        told, telling = socket.socketpair()
        with telling:
            socket.send_fds(
                self._control,
                [json.dumps(dict(settings)).encode()],
                [ready, lifeline, 1, stderr, telling.fileno()],
            )
        return Forked(told)

    def _end(self) -> None:
        self._control.close()
        self._process.wait()


def _become_one(control: socket.socket) -> None:
    """Fork whenever that is asked for, and return in the forked process; end when nobody asks."""
    watched = selectors.DefaultSelector()
    watched.register(control, selectors.EVENT_READ)
    running: dict[int, tuple[int, int]] = {}
    """By a descriptor of each that runs: its pid, and where its end is told."""
    ended: dict[int, int] = {}
    """By where that was told: the pid, until the end is seen. Till then no other has it."""
    while True:
        for key, _ in watched.select():
            if key.fileobj is control:
                settings, fds, _, _ = socket.recv_fds(control, _ROOM, 5)
                if not settings:
                    sys.exit()
                *given, telling = fds
                if (pid := os.fork()) == 0:
                    watched.close()
                    control.close()
                    told = (fd for _, fd in running.values())
                    for fd in (*running, *told, *ended, telling):
                        os.close(fd)
                    return _take(json.loads(settings), given)
                for fd in given:
                    os.close(fd)
                os.write(telling, f"{pid}\n".encode())
                alive = os.pidfd_open(pid)
                running[alive] = pid, telling
                watched.register(alive, selectors.EVENT_READ)
            elif key.fd in running:
                watched.unregister(key.fd)
                os.close(key.fd)
                pid, telling = running.pop(key.fd)
                with contextlib.suppress(ConnectionError):  # Nobody wants to know.
                    os.write(telling, str(_exit_code(pid)).encode())
                ended[telling] = pid
                watched.register(telling, selectors.EVENT_READ)
            else:
                watched.unregister(key.fd)
                os.waitpid(ended.pop(key.fd), 0)
                with contextlib.suppress(ConnectionError):
                    os.write(key.fd, b".")
                os.close(key.fd)


def _exit_code(pid: int) -> int:
    """How a process ended, which is left as it is."""
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def _take(settings: dict[str, str], given: Sequence[int]) -> None:
    """Have these settings and descriptors, and no others."""
    ready, lifeline, stdout, stderr = given
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.close(stdout)
    os.close(stderr)
    os.environ.update(settings, ATAJO_READY_FD=str(ready), ATAJO_LIFELINE_FD=str(lifeline))


def _main() -> None:
    module, control = sys.argv[1], int(sys.argv[2])
    importlib.import_module(f"{module}.__main__")
    del sys.modules[f"{module}.__main__"]  # It runs under the name of a main module.
    gc.collect()
    gc.freeze()  # Whoever looks through what is shared would have to copy it.
    _become_one(socket.socket(fileno=control))
    sys.argv[1:] = []
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
