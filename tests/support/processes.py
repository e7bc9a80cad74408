"""Modules of the product started as processes of their own, as an operator would start them."""

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

from tests.support.warm import Forked, Warm

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
"""Seconds to wait for what takes well under one on an idle machine, and far more on a busy one."""
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""What httpx gets as `verify` for servers of this machine, none of which speaks TLS. A client that
is made without it reads the certificates of all authorities, 25 times the work of asking."""
IN_BACKGROUND = ("sh", "-c", 'trap "" INT QUIT; exec "$@"', "sh")
"""Begins a command that is to start as a shell without job control starts one with `&`."""

PYTHON_PATH = os.pathsep.join(str(ROOT / part) for part in ("tests/support/bare", "", "proto/gen"))
"""Where processes of the product find its modules, and none that only developers have."""

_WARMED = ("gateway", *(f"services.{n}" for n in ("auth", "links", "analytics", "reconciler")))
_warm: dict[tuple[str, frozenset[tuple[str, str]]], Warm] = {}
"""By their module and environment."""
_warming = threading.Lock()


def _started(
    module: str, env: Mapping[str, str], ready: int, lifeline: int, stderr: int, forked: bool
) -> subprocess.Popen[bytes] | Forked:
    """Start `python -m <module>`, in a test by a fork where that makes no difference.

    What is measured (`tests/performance`) starts as an operator starts it, and so does what
    is given more than settings.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ATAJO_", "PYTEST_"))
    } | {"PYTHONPATH": PYTHON_PATH}
    settings = {"ATAJO_LISTEN": "127.0.0.1:0", **env}
    forked = forked and "PYTEST_VERSION" in os.environ
    if forked and module in _WARMED and all(name.startswith("ATAJO_") for name in settings):
        with _warming:
            key = module, frozenset(inherited.items())
            warm = _warm.get(key)
            if warm is None:
                warm = _warm[key] = Warm(module, inherited, ROOT)
        return warm.fork(settings, ready, lifeline, stderr)
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
    """`python -m <module>`, with nothing of the product's settings but what is given.

    In tests, what the product consists of is forked from a process that has imported it
    (`warm`), where `forked` is not False. Made by `start`, which waits for the ready line,
    or by `launch`, which does not. As a context manager it is killed at the end where it still
    runs.
    """

    def __init__(
        self, module: str, env: Mapping[str, str], log: Path, *, forked: bool = True
    ) -> None:
        self._log = log
        self._ready, ready = os.pipe()
        lifeline, self._lifeline = os.pipe()
        with log.open("ab") as stderr:
            self._log_start = stderr.tell()
            self.popen = _started(module, env, ready, lifeline, stderr.fileno(), forked)
        os.close(ready)
        os.close(lifeline)
        self.addresses: dict[str, str] = {}

    @classmethod
    def launch(cls, module: str, env: Mapping[str, str], log: Path, *, forked: bool = True) -> Self:
        """Start a process that need not become ready; its standard error is added to `log`."""
        return cls(module, env, log, forked=forked)

    @classmethod
    def start(cls, module: str, env: Mapping[str, str], log: Path) -> Self:
        """Start a process and wait until it says where it listens (`addresses`)."""
        process = cls(module, env, log)
        try:
            process.await_ready()
        except BaseException:
            process.kill()
            raise
        return process

    def await_ready(self) -> None:
        """Wait until it says where it listens. `start` has waited already."""
        said = b""
        deadline = time.monotonic() + PATIENCE
        # A store that is brought up to date first says so in a line of its own.
        while not said.endswith(b"\n") or "upgrading" in json.loads(said.splitlines()[-1]):
            if not select.select([self._ready], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"Not ready after {PATIENCE} s:\n{self.stderr()}")
            chunk = os.read(self._ready, 4096)
            if not chunk:
                raise RuntimeError(f"Ended before it was ready:\n{self.stderr()}")
            said += chunk
        self.addresses = json.loads(said.splitlines()[-1])

    @property
    def grpc(self) -> str:
        """Where the process serves gRPC."""
        return self.addresses["grpc"]

    def stderr(self) -> str:
        """What it has written to standard error so far."""
        with self._log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode()

    def log_lines(self) -> list[dict[str, object]]:
        """The JSON log lines so far."""
        return [json.loads(line) for line in self.stderr().splitlines()]

    def terminate(self) -> None:
        """Ask it to stop, and return at once."""
        self.popen.send_signal(signal.SIGTERM)

    def cut_lifeline(self) -> None:
        """Let it see that its starter is gone, and return at once."""
        if self._lifeline != -1:
            os.close(self._lifeline)
            self._lifeline = -1

    def wait(self) -> int:
        """Wait for its end; returns its exit code."""
        return self.popen.wait(PATIENCE)

    def stop(self) -> int:
        """Stop it in good order; returns its exit code."""
        self.terminate()
        return self.wait()

    def kill(self) -> None:
        """End it with SIGKILL, where it still runs."""
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
