"""Starts modules of the product as processes, and controls them."""

from __future__ import annotations

import json
import os
import select
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.fork_server import ForkedProcess, ForkServer

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 60.0
"""Default timeout. Most steps take less than a second, but far longer on a busy machine."""
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""The `verify` argument of httpx for local servers, none of which uses TLS. Without it, a client
loads all CA certificates, which takes 25 times as long as a request."""
BACKGROUND_SHELL = ("sh", "-c", 'trap "" INT QUIT; exec "$@"', "sh")
"""Prefix of a command. Starts it as a shell without job control does with `&`: ignoring SIGINT."""

PYTHON_PATH = os.pathsep.join(
    str(ROOT / part) for part in ("tests/support/blocked_modules", "", "proto/gen")
)
"""Module path of the product's processes. It hides modules that only developers have."""

_FORKABLE = ("gateway", *(f"services.{n}" for n in ("auth", "links", "analytics", "reconciler")))
_fork_servers: dict[tuple[str, frozenset[tuple[str, str]]], ForkServer] = {}
"""Fork servers by module and environment."""
_fork_servers_lock = threading.Lock()


def _start(
    module: str, env: Mapping[str, str], ready: int, lifeline: int, stderr: int, forked: bool
) -> subprocess.Popen[bytes] | ForkedProcess:
    """Start `python -m <module>`, in a test with a fork server where that makes no difference.

    Measurements (`tests/performance`) and processes with other variables than settings start as an
    operator starts them.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ATAJO_", "PYTEST_"))
    } | {"PYTHONPATH": PYTHON_PATH}
    settings = {"ATAJO_LISTEN": "127.0.0.1:0", **env}
    forked = forked and "PYTEST_VERSION" in os.environ
    if forked and module in _FORKABLE and all(name.startswith("ATAJO_") for name in settings):
        with _fork_servers_lock:
            key = module, frozenset(inherited.items())
            fork_server = _fork_servers.get(key)
            if fork_server is None:
                fork_server = _fork_servers[key] = ForkServer(module, inherited, ROOT)
        return fork_server.fork(settings, ready, lifeline, stderr)
    return subprocess.Popen(
        [sys.executable, "-m", module],
        cwd=ROOT,
        env={
            **inherited,
            "ATAJO_READY_FD": str(ready),
            "ATAJO_LIFELINE_FD": str(lifeline),
            **settings,
        },
        pass_fds=(ready, lifeline),
        stdin=subprocess.DEVNULL,
        stderr=stderr,
    )


class Process:
    """`python -m <module>`, with only the given settings of the product.

    Create it with `start`, which waits until the process is ready, or with `launch`, which does
    not. As a context manager it kills the process at the end if it still runs. In tests, a fork
    server starts processes of the product, unless `forked` is false.
    """

    def __init__(
        self, module: str, env: Mapping[str, str], log: Path, *, forked: bool = True
    ) -> None:
        self._log = log
        self._ready, ready = os.pipe()
        lifeline, self._lifeline = os.pipe()
        with log.open("ab") as stderr:
            self._log_start = stderr.tell()
            self.popen = _start(module, env, ready, lifeline, stderr.fileno(), forked)
        os.close(ready)
        os.close(lifeline)
        self.addresses: dict[str, str] = {}

    @classmethod
    def launch(cls, module: str, env: Mapping[str, str], log: Path, *, forked: bool = True) -> Self:
        """Start a process that need not become ready. Appends its standard error to `log`."""
        return cls(module, env, log, forked=forked)

    @classmethod
    def start(cls, module: str, env: Mapping[str, str], log: Path) -> Self:
        """Start a process and wait until it reports its `addresses`."""
        process = cls(module, env, log)
        try:
            process.await_ready()
        except BaseException:
            process.kill()
            raise
        return process

    def await_ready(self) -> None:
        """Wait until the process reports its `addresses`. Only needed after `launch`."""
        received = b""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        # A line of its own reports a schema upgrade.
        while not received.endswith(b"\n") or "upgrading" in json.loads(received.splitlines()[-1]):
            if not select.select([self._ready], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"Not ready after {TIMEOUT_SECONDS} s:\n{self.stderr()}")
            chunk = os.read(self._ready, 4096)
            if not chunk:
                raise RuntimeError(f"Ended before it was ready:\n{self.stderr()}")
            received += chunk
        self.addresses = json.loads(received.splitlines()[-1])

    @property
    def grpc(self) -> str:
        """The address of the gRPC server."""
        return self.addresses["grpc"]

    def stderr(self) -> str:
        """Return the standard error so far."""
        with self._log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode()

    def log_lines(self) -> list[dict[str, object]]:
        """Return the JSON log lines so far."""
        return [json.loads(line) for line in self.stderr().splitlines()]

    def terminate(self) -> None:
        """Send SIGTERM, and return at once."""
        self.popen.send_signal(signal.SIGTERM)

    def cut_lifeline(self) -> None:
        """Close the lifeline, as the end of the supervisor does, and return at once."""
        if self._lifeline != -1:
            os.close(self._lifeline)
            self._lifeline = -1

    def wait(self) -> int:
        """Wait for the end; return the exit code."""
        return self.popen.wait(TIMEOUT_SECONDS)

    def stop(self) -> int:
        """Stop the process in good order; return the exit code."""
        self.terminate()
        return self.wait()

    def kill(self) -> None:
        """Send SIGKILL if the process still runs."""
        self.popen.kill()
        self.popen.wait()
        self.cut_lifeline()
        if self._ready != -1:
            os.close(self._ready)
            self._ready = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
