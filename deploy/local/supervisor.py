"""Starts the processes, waits while they run, and stops them in order."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TextIO

from deploy.local import caller
from deploy.local.child import Child, Failed, Forked
from deploy.local.folder import DataFolder
from deploy.local.settings import ROOT, WEB_DIR, RunSettings
from deploy.local.store import store_of

SERVICES = ("auth", "links", "analytics")
GATEWAY = "gateway"
RECONCILER = "reconciler"
CALLERS = (GATEWAY, RECONCILER)
"""They call the services, so they stop first."""
MODULES = {
    **{name: f"services.{name}" for name in (*SERVICES, RECONCILER)},
    GATEWAY: GATEWAY,
}
"""The module of each process."""
_RUN_SETTINGS = ("ATAJO_STORE", "ATAJO_STORE_FILE")
"""Settings that mean something else to the processes than to the run."""
_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_CALLERS_SECONDS = 3.0
_ALL_SECONDS = 4.0
"""Seconds after which the callers, and all processes, must have stopped. This leaves a second of
the promised 5 s for this process to end on a busy machine."""


async def supervise(settings: RunSettings, folder: DataFolder, forked: Mapping[str, Forked]) -> int:
    """Run the product until a signal or a failure. Returns the exit code.

    `forked` has a process for each of `MODULES`. All of them have ended when this returns.
    """
    run = _Run(settings, folder, forked)
    serving = asyncio.create_task(run.serve())
    _cancel_on_signal(serving)
    try:
        await serving
        raise AssertionError("It ends by an exception alone.")
    except asyncio.CancelledError:
        code = 0
    except ExceptionGroup as group:
        failed = next((error for error in group.exceptions if isinstance(error, Failed)), None)
        if failed is None:
            raise
        _say(f"{failed}; Atajo stops.", sys.stderr)
        code = failed.code
    finally:
        await run.stop()
        # Another signal must not change the exit code any more.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)
    return code


def _cancel_on_signal(task: asyncio.Task[None]) -> None:
    loop = asyncio.get_running_loop()
    for number in _STOP:
        ignored = signal.getsignal(number) is signal.SIG_IGN
        if not (ignored and number == signal.SIGHUP):  # nohup sets this.
            loop.add_signal_handler(number, task.cancel)


class _Run:
    def __init__(
        self, settings: RunSettings, folder: DataFolder, forked: Mapping[str, Forked]
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._forked = forked
        self._children: list[Child] = []
        # Its end of file tells the processes that the supervisor has ended, for whatever reason.
        self._lifeline, self._held = os.pipe()

    async def serve(self) -> None:
        """Start everything and wait. Ends when cancelled, or with a group of Failed."""
        async with asyncio.TaskGroup() as group:
            group.create_task(caller.follow())
            services = [self._start(group, name, self._service_env(name)) for name in SERVICES]
            await asyncio.gather(*(child.serving() for child in services))
            gateway = self._start(group, GATEWAY, self._gateway_env(services))
            await gateway.serving()
            self._folder.write_state(self._state())
            _say(f"Atajo is ready: {self._settings.url}", sys.stdout)
            if self._settings.backup_hours:
                from deploy.local import schedule  # Other runs need not load it.

                report = partial(_say, stream=sys.stderr)
                group.create_task(schedule.back_up(self._settings, report))
            # The product is ready without it.
            reconciler = self._start(group, RECONCILER, self._reconciler_env(services))
            await reconciler.serving()
            self._folder.write_state(self._state())

    async def stop(self) -> None:
        """Stop the callers, so that the gateway can send its visits, and then the services."""
        callers = [child for child in self._children if child.name in CALLERS]
        services = [child for child in self._children if child.name not in CALLERS]
        began = asyncio.get_running_loop().time()
        killed = await _end(callers, began + _CALLERS_SECONDS)
        killed += await _end(services, began + _ALL_SECONDS)
        self._folder.forget_state()
        os.close(self._lifeline)
        os.close(self._held)
        for child in killed:
            _say(f"{child.name} did not stop in time and was killed.", sys.stderr)

    def _start(self, group: asyncio.TaskGroup, name: str, settings: Mapping[str, str]) -> Child:
        forked = self._forked[MODULES[name]]
        env = {**self._shared_env(), **settings}
        reports = forked.begin(env, self._lifeline, self._folder.inherited)
        child = Child(name, forked.process, reports)
        self._children.append(child)
        group.create_task(child.watch())
        return child

    def _shared_env(self) -> dict[str, str]:
        path = [str(ROOT), str(ROOT / "proto" / "gen"), os.environ.get("PYTHONPATH", "")]
        return {
            "ATAJO_DRAIN_SECONDS": "1",  # All must have stopped within 5 s.
            **{name: value for name, value in os.environ.items() if name not in _RUN_SETTINGS},
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
            "ATAJO_ENVIRONMENT": "local",
            "ATAJO_LOG_LEVEL": self._settings.log_level,
            "ATAJO_PUBLIC_URL": self._settings.url,
            "ATAJO_METRICS_LISTEN": "127.0.0.1:0",
            "ATAJO_TOKEN_SECRET_FILE": str(self._folder.secret_file),
        }

    def _service_env(self, name: str) -> dict[str, str]:
        return {
            "ATAJO_LISTEN": self._folder.socket(f"{name}.calls"),
            "ATAJO_ADMIN_LISTEN": self._folder.socket(f"{name}.admin"),
            "ATAJO_STORE": store_of(name, self._settings.store, self._folder.path),
        }

    def _gateway_env(self, services: Sequence[Child]) -> dict[str, str]:
        calls = {
            f"ATAJO_{child.name.upper()}_ADDRESS": child.addresses["grpc"] for child in services
        }
        return {
            **calls,
            "ATAJO_LISTEN": f"127.0.0.1:{self._settings.port}",
            "ATAJO_JOURNAL_DIR": str(self._folder.path / "journal"),
            "ATAJO_WEB_DIR": str(WEB_DIR),
        }

    def _reconciler_env(self, services: Sequence[Child]) -> dict[str, str]:
        addresses = {child.name: child.addresses for child in services}
        admin = {
            f"ATAJO_{name.upper()}_ADMIN_ADDRESS": addresses[name]["admin"] for name in SERVICES
        }
        return {**admin, "ATAJO_ANALYTICS_ADDRESS": addresses["analytics"]["grpc"]}

    def _state(self) -> dict[str, object]:
        return {
            "pid": os.getpid(),
            "url": self._settings.url,
            "store": "mongodb" if self._settings.store else "sqlite",
            "processes": {
                child.name: {"pid": child.pid, **child.addresses} for child in self._children
            },
        }


async def _end(children: Sequence[Child], until: float) -> list[Child]:
    """Stop processes and wait for their end. Returns those that had to be killed.

    `until` is a time of the event loop's clock.
    """
    for child in children:
        child.signal(signal.SIGTERM)
    if children:
        left = until - asyncio.get_running_loop().time()
        await asyncio.wait([child.ended for child in children], timeout=max(0.0, left))
    killed = [child for child in children if not child.ended.done()]
    for child in killed:
        child.signal(signal.SIGKILL)
    await asyncio.gather(*(child.ended for child in killed))
    return killed


def _say(line: str, stream: TextIO) -> None:
    stream.write(line + "\n")
    stream.flush()
