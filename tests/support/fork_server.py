"""A fork server: forks processes of the product from a process that has imported their module.

Imports take most of the time of a start, and the tests start a thousand processes. Each fork is a
separate process with its own file descriptors, settings, exit code and log. The fork happens before
gRPC or any thread starts. A start from the command line is tested separately
(tests/deployment/local/test_run.py).
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

_MAX_SETTINGS_BYTES = 1 << 20


class ForkedProcess:
    """A process that a fork server started, with part of the interface of `subprocess.Popen`."""

    def __init__(self, events: socket.socket) -> None:
        self._events = events
        """Receives the pid, as a line, and at the end of the process its exit code."""
        self._polling = threading.Lock()
        line = b""
        while not line.endswith(b"\n"):
            if not (byte := events.recv(1)):
                events.close()
                raise RuntimeError("The fork server is gone.")
            line += byte
        self.pid = int(line)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code once the process has ended, negative for a signal.

        The fork server reaps the process, and so frees its pid, only after this has seen the end.
        """
        with self._polling:
            if self.returncode is None and select.select([self._events], [], [], 0)[0]:
                code = self._events.recv(16)
                with contextlib.suppress(ConnectionError):
                    self._events.send(b".")
                    self._events.recv(1)  # Confirms that the process is reaped.
                self._events.close()
                # If the fork server was killed, the exit code is unknown.
                self.returncode = int(code or -signal.SIGKILL)
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code. Raises TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self._await_event(left)
        return code

    def _await_event(self, seconds: float | None) -> None:
        # Another thread may see the end first and close the socket.
        with contextlib.suppress(ValueError, OSError):
            select.select([self._events], [], [], min(0.5, 0.5 if seconds is None else seconds))

    def send_signal(self, number: int) -> None:
        """Send a signal if the process still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class ForkServer:
    """The client of a process that has imported a module and forks processes that run it."""

    def __init__(self, module: str, env: Mapping[str, str], root: Path) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.fork_server", module, str(theirs.fileno())],
                cwd=root,
                env=dict(env),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )
        atexit.register(self._end)

    def fork(
        self, settings: Mapping[str, str], ready: int, lifeline: int, stderr: int
    ) -> ForkedProcess:
        """Start a process that runs the module with these settings and file descriptors."""
        events, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(
                self._control,
                [json.dumps(dict(settings)).encode()],
                [ready, lifeline, 1, stderr, theirs.fileno()],
            )
        return ForkedProcess(events)

    def _end(self) -> None:
        self._control.close()
        self._process.wait()


def _serve_forks(control: socket.socket) -> None:
    """Fork on request, and return only in a forked process. Exit once `control` is closed."""
    watched = selectors.DefaultSelector()
    watched.register(control, selectors.EVENT_READ)
    running: dict[int, tuple[int, int]] = {}
    """Pid and events socket of each running process, by its pidfd."""
    ended: dict[int, int] = {}
    """Pids of ended processes by their events socket, until the client has seen the end. They are
    not reaped before, so that their pids are not reused."""
    while True:
        for key, _ in watched.select():
            if key.fileobj is control:
                settings, fds, _, _ = socket.recv_fds(control, _MAX_SETTINGS_BYTES, 5)
                if not settings:
                    sys.exit()
                *given, events = fds
                if (pid := os.fork()) == 0:
                    watched.close()
                    control.close()
                    sockets = (fd for _, fd in running.values())
                    for fd in (*running, *sockets, *ended, events):
                        os.close(fd)
                    return _apply(json.loads(settings), given)
                for fd in given:
                    os.close(fd)
                os.write(events, f"{pid}\n".encode())
                pidfd = os.pidfd_open(pid)
                running[pidfd] = pid, events
                watched.register(pidfd, selectors.EVENT_READ)
            elif key.fd in running:
                watched.unregister(key.fd)
                os.close(key.fd)
                pid, events = running.pop(key.fd)
                with contextlib.suppress(ConnectionError):  # The client is gone.
                    os.write(events, str(_exit_code(pid)).encode())
                ended[events] = pid
                watched.register(events, selectors.EVENT_READ)
            else:
                watched.unregister(key.fd)
                os.waitpid(ended.pop(key.fd), 0)
                with contextlib.suppress(ConnectionError):
                    os.write(key.fd, b".")
                os.close(key.fd)


def _exit_code(pid: int) -> int:
    """Return the exit code of an ended process without reaping it."""
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def _apply(settings: dict[str, str], fds: Sequence[int]) -> None:
    """Take over settings and file descriptors."""
    ready, lifeline, stdout, stderr = fds
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    os.close(stdout)
    os.close(stderr)
    os.environ.update(settings, ATAJO_READY_FD=str(ready), ATAJO_LIFELINE_FD=str(lifeline))


def _main() -> None:
    module, control = sys.argv[1], int(sys.argv[2])
    importlib.import_module(f"{module}.__main__")
    del sys.modules[f"{module}.__main__"]  # It will run under the name of a main module.
    gc.collect()
    gc.freeze()  # The garbage collector would write to shared pages, and so copy them.
    _serve_forks(socket.socket(fileno=control))
    sys.argv[1:] = []
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
