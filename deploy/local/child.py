"""The processes of the product, forked by the supervisor.

All of them are forked before the supervisor has an event loop or a thread, and before gRPC is
initialized. Each then waits for its settings. The supervisor first imports what all of them use, so
that they share its memory: together they take a third less than processes that import it themselves
(docs/adr/0005-memory-of-a-local-run.md).
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import json
import multiprocessing
import os
import runpy
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import NoReturn

from deploy.local.settings import ROOT
from deploy.local.signals import ENDING_SIGNALS, is_ignored
from services.shared import supervisor

_START_TIMEOUT = 30.0
"""Seconds within which a process must serve, or say why it takes longer."""
_SHARED = (
    "google.protobuf.descriptor_pb2",
    "grpc.aio",
    "sqlite3",
    "uvloop",
    "services.shared.background",
    "services.shared.rpc.handlers",
    "services.shared.observability.monitoring_server",
    "services.shared.supervisor",
    "services.shared.observability.tracing",
)
"""Modules that every process imports, or that create no metrics in processes that do not."""


class Failed(Exception):
    """The run ends with `code`, for the reason in one line.

    Without a `process`, it cannot start: the line is for the person who starts it.
    """

    def __init__(self, line: str, code: int = 1, process: str = "") -> None:
        super().__init__(line)
        self.code = code
        self.process = process


class Forked:
    """A forked process that runs a module once it receives its settings."""

    def __init__(self, module: str, earlier: Sequence[Forked]) -> None:
        self._control, theirs = socket.socketpair()
        ours = [*(forked._control for forked in earlier), self._control]
        with theirs:
            self.process = multiprocessing.get_context("fork").Process(
                target=_become, args=(module, theirs, ours), daemon=True
            )
            self.process.start()

    def begin(self, env: Mapping[str, str], lifeline: int, inherited: int) -> int:
        """Start the module with an environment and two files. Returns the pipe of its reports."""
        reports, ready = os.pipe()
        try:
            with self._control as control:
                control.settimeout(_START_TIMEOUT)
                # If it was killed meanwhile, `Child` reports its end.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    socket.send_fds(control, [b"\n"], [lifeline, ready, inherited])
                    control.sendall(json.dumps(dict(env)).encode())
        finally:
            os.close(ready)
        return reports


def fork(modules: Sequence[str]) -> dict[str, Forked]:
    """Fork a process per module. Call this before starting a thread or an event loop."""
    for name in _SHARED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # The garbage collector would write to shared pages.
    forked: dict[str, Forked] = {}
    for module in modules:
        forked[module] = Forked(module, list(forked.values()))
    return forked


def _become(module: str, control: socket.socket, others: Sequence[socket.socket]) -> None:
    """Wait for the settings, then run as `python -m module` without a terminal.

    The supervisor says the line of a SystemExit, so that nothing else is said of the same failure.
    """
    for number in ENDING_SIGNALS:
        if not is_ignored(number):
            signal.signal(number, signal.SIG_DFL)
    # A new session: only the supervisor receives Ctrl-C, and stops processes in order.
    os.setsid()
    for other in others:
        other.close()
    with control:
        received, fds, _, _ = socket.recv_fds(control, 1, 3)
        if not received:  # The supervisor has ended.
            return
        lifeline, ready, _ = fds
        env = json.loads(b"".join(iter(lambda: control.recv(1 << 16), b"")))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    os.environ.clear()
    os.environ.update(env, ATAJO_READY_FD=str(ready), ATAJO_LIFELINE_FD=str(lifeline))
    os.chdir(ROOT)
    Path("/proc/self/comm").write_text(module.rpartition(".")[2])  # For `top` and `ps -A`.
    sys.argv = [module]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if isinstance(end.code, str) and supervisor.report_refused(end.code):
            raise SystemExit(1) from None
        raise


class Child:
    """A running process, which reports through the pipe `reports` (services/shared/supervisor.py).

    `on_delay` receives the reports of why it does not serve yet.
    """

    def __init__(
        self,
        name: str,
        process: ForkProcess,
        reports: int,
        on_delay: Callable[[str, Mapping[str, str]], None],
    ) -> None:
        self.name = name
        self.addresses: dict[str, str] = {}
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[int] = loop.create_future()
        """Its exit code as in a shell: 128 + n for signal n."""
        self._served: asyncio.Future[None] = loop.create_future()
        self._delayed: asyncio.Future[None] = loop.create_future()
        self._process = process
        self._reports = os.fdopen(reports, "rb", buffering=0)
        self._on_delay = on_delay
        loop.add_reader(process.sentinel, self._end)

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    async def serving(self) -> None:
        """Wait until it has reported its addresses to `watch`. Raises Failed."""
        events = (self._served, self._delayed)
        done, _ = await asyncio.wait(
            events, timeout=_START_TIMEOUT, return_when=asyncio.FIRST_COMPLETED
        )
        if not done:
            raise self._failed(f"was not ready within {_START_TIMEOUT:.0f} s", 1)
        await asyncio.shield(self._served)

    async def watch(self) -> NoReturn:
        """Read its reports until it ends unexpectedly. Raises Failed."""
        lines = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(lines), self._reports
        )
        try:
            async for line in lines:
                self._receive(json.loads(line))
        finally:
            transport.close()
        code = await asyncio.shield(self.ended)
        raise self._failed(f"died with code {code}", code)

    def _failed(self, what: str, code: int) -> Failed:
        return Failed(f"{self.name} {what}; Atajo stops.", code, self.name)

    def _receive(self, report: dict[str, str]) -> None:
        match report:
            case {"refused": line}:
                raise Failed(line)
            case {"upgrading": _} | {"waiting": _}:
                self._on_delay(self.name, report)
                if not self._delayed.done():
                    self._delayed.set_result(None)
            case _:
                self.addresses = report
                self._served.set_result(None)

    def signal(self, number: signal.Signals) -> None:
        if not self.ended.done():
            os.kill(self.pid, number)

    def _end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._process.sentinel)
        self._process.join()
        code = self._process.exitcode
        assert code is not None
        self.ended.set_result(code if code >= 0 else 128 - code)
