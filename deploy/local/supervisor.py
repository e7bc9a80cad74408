"""Starts the processes, stays while they run, and stops them in order."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
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
"""They call the services, so they stop before those do."""
MODULES = {
    **{name: f"services.{name}" for name in (*SERVICES, RECONCILER)},
    GATEWAY: GATEWAY,
}
"""What each process runs."""
_OURS = ("ATAJO_STORE", "ATAJO_STORE_FILE")
"""Settings of the run that mean something else to its processes."""
_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_CALLERS_SECONDS = 3.0
_ALL_SECONDS = 4.0
"""Until when those that call, and all, must have stopped, from the beginning of the end on. The
second up to 5 s is for a busy machine, on which this process, too, takes its time to end."""


async def supervise(settings: RunSettings, folder: DataFolder, forked: Mapping[str, Forked]) -> int:
    """Run the product until a signal or a failure; returns the exit code. `forked` has `MODULES`.

    When it returns, every process it started has ended and was waited for.
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
        # The end is certain now: one more signal must not change its code.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)
    return code


def _cancel_on_signal(task: asyncio.Task[None]) -> None:
    loop = asyncio.get_running_loop()
    for number in _STOP:
        ignored = signal.getsignal(number) is signal.SIG_IGN
        if not (ignored and number == signal.SIGHUP):  # As `nohup` asks for.
            loop.add_signal_handler(number, task.cancel)


class _Run:
    def __init__(
        self, settings: RunSettings, folder: DataFolder, forked: Mapping[str, Forked]
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._forked = forked
        self._children: list[Child] = []
        # Its end of file tells the processes that this one is gone, whatever ended it.
        self._lifeline, self._held = os.pipe()

    async def serve(self) -> None:
        """Start everything and stay. Ends by being cancelled or with a group of Failed."""
        async with asyncio.TaskGroup() as group:
            group.create_task(caller.follow())
            services = [self._start(group, name, self._service_env(name)) for name in SERVICES]
            await asyncio.gather(*(child.serving() for child in services))
            gateway = self._start(group, GATEWAY, self._gateway_env(services))
            await gateway.serving()
            self._folder.write_state(self._state())
            _say(f"Atajo is ready: {self._settings.url}", sys.stdout)
            # Nobody waits for what it does.
            reconciler = self._start(group, RECONCILER, self._reconciler_env(services))
            await reconciler.serving()
            self._folder.write_state(self._state())

    async def stop(self) -> None:
        """Those that call first, as the gateway hands its visits on; then the services."""
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
        env = {**self._shared_env(), **settings}
        child = Child.start(
            name, self._forked[MODULES[name]], env, self._lifeline, self._folder.inherited
        )
        self._children.append(child)
        group.create_task(child.watch())
        return child

    def _shared_env(self) -> dict[str, str]:
        path = [str(ROOT), str(ROOT / "proto" / "gen"), os.environ.get("PYTHONPATH", "")]
        return {
            "ATAJO_DRAIN_SECONDS": "1",  # All must have stopped within 5 s.
            **{name: value for name, value in os.environ.items() if name not in _OURS},
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
            "ATAJO_ENVIRONMENT": "local",
            "ATAJO_LOG_LEVEL": self._settings.log_level,
            "ATAJO_PUBLIC_URL": self._settings.url,
            "ATAJO_METRICS_LISTEN": "127.0.0.1:0",
            "ATAJO_TOKEN_SECRET_FILE": str(self._folder.secret_file),
        }

    def _service_env(self, name: str) -> dict[str, str]:
        return {
            "ATAJO_LISTEN": "127.0.0.1:0",
            "ATAJO_ADMIN_LISTEN": "127.0.0.1:0",
            "ATAJO_STORE": store_of(name, self._settings.store, self._folder.path),
        }

    def _gateway_env(self, services: Sequence[Child]) -> dict[str, str]:
        return {
            "ATAJO_LISTEN": f"127.0.0.1:{self._settings.port}",
            **{f"ATAJO_{each.name.upper()}_ADDRESS": each.addresses["grpc"] for each in services},
            "ATAJO_JOURNAL_DIR": str(self._folder.path / "journal"),
            "ATAJO_WEB_DIR": str(WEB_DIR),
        }

    def _reconciler_env(self, services: Sequence[Child]) -> dict[str, str]:
        grpc = {each.name: each.addresses["grpc"] for each in services}
        admin = {
            f"ATAJO_{each.name.upper()}_ADMIN_ADDRESS": each.addresses["admin"] for each in services
        }
        return {**admin, "ATAJO_ANALYTICS_ADDRESS": grpc["analytics"]}

    def _state(self) -> dict[str, object]:
        return {
            "pid": os.getpid(),
            "url": self._settings.url,
            "store": "mongodb" if self._settings.store else "sqlite",
            "processes": {
                each.name: {"pid": each.pid, **each.addresses} for each in self._children
            },
        }


async def _end(children: Sequence[Child], until: float) -> list[Child]:
    """Stop processes, and wait for their end; returns those that had to be killed for it.

    `until` is a moment of the loop's clock.
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
