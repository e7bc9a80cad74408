"""Starts the processes, waits while they run, and stops them in order."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence

from deploy.local import caller
from deploy.local.child import Child, Failed, Forked
from deploy.local.folder import DataFolder, explain
from deploy.local.messages import Messages
from deploy.local.settings import ROOT, WEB_DIR, RunSettings
from deploy.local.signals import ENDING_SIGNALS, is_ignored
from deploy.local.store import store_of
from services.shared.backups import FOLDER as BACKUPS
from services.shared.environment import PREFIX
from services.shared.settings import format_origin

SERVICES = ("auth", "links", "analytics")
_ADMINISTERED = ("auth", "links")
"""The services that check administrators' passes."""
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
_CALLERS_SECONDS = 3.0
_ALL_SECONDS = 4.0
"""Seconds after which the callers, and all processes, must have stopped. This leaves a second of
the promised 5 s for this process to end on a busy machine."""


async def supervise(
    settings: RunSettings, folder: DataFolder, forked: Mapping[str, Forked], messages: Messages
) -> int:
    """Run the product until a signal or a failure. Returns the exit code.

    `forked` has a process for each of `MODULES`. All of them have ended when this returns.
    """
    run = _Run(settings, folder, forked, messages)
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
        messages.failed(failed)
        code = failed.code
    finally:
        await run.stop()
        # Another signal must not change the exit code any more.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    return code


def _cancel_on_signal(task: asyncio.Task[None]) -> None:
    loop = asyncio.get_running_loop()
    for number in ENDING_SIGNALS:
        if not is_ignored(number):
            loop.add_signal_handler(number, task.cancel)


class _Run:
    def __init__(
        self,
        settings: RunSettings,
        folder: DataFolder,
        forked: Mapping[str, Forked],
        messages: Messages,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._forked = forked
        self._messages = messages
        self._administration_secret = folder.derive_administration_secret()
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
            self._write_state()
            self._messages.ready(self._settings.url)
            if self._settings.backup_hours:
                from deploy.local import schedule  # Other runs need not load it.

                group.create_task(schedule.back_up(self._settings, self._messages.backup_failed))
            # The product is ready without it.
            reconciler = self._start(group, RECONCILER, self._reconciler_env(services))
            await reconciler.serving()
            self._write_state()

    async def stop(self) -> None:
        """Stop the callers, so that the gateway can send its visits, and then the services."""
        callers = [child for child in self._children if child.name in CALLERS]
        services = [child for child in self._children if child.name not in CALLERS]
        began = asyncio.get_running_loop().time()
        killed = await _end(callers, began + _CALLERS_SECONDS)
        killed += await _end(services, began + _ALL_SECONDS)
        os.close(self._lifeline)
        os.close(self._held)
        for child in killed:
            self._messages.killed(child.name)
        try:
            self._folder.forget_state()
        except OSError as error:  # The next run deletes it.
            self._messages.unwritable(explain(self._folder.path, error))

    def _start(self, group: asyncio.TaskGroup, name: str, settings: Mapping[str, str]) -> Child:
        forked = self._forked[MODULES[name]]
        env = {**self._shared_env(), **settings}
        if port := self._settings.metrics_ports.get(name):
            env["ATAJO_METRICS_LISTEN"] = self._settings.endpoint(port)
        reports = forked.begin(env, self._lifeline, self._folder.inherited)
        child = Child(name, forked.process, reports, self._messages.delayed)
        self._children.append(child)
        group.create_task(child.watch())
        return child

    def _shared_env(self) -> dict[str, str]:
        given = {
            name: value
            for name, value in os.environ.items()
            if name not in _RUN_SETTINGS and (value or not name.startswith(PREFIX))
        }
        path = [str(ROOT), str(ROOT / "proto" / "gen"), os.environ.get("PYTHONPATH", "")]
        return {
            "ATAJO_DRAIN_SECONDS": "1",  # All must have stopped within 5 s.
            **given,
            "PYTHONPATH": os.pathsep.join(filter(None, path)),
            "ATAJO_AWAIT_STORE": "on",
            "ATAJO_ENVIRONMENT": self._settings.environment,
            "ATAJO_LOG_LEVEL": self._settings.log_level,
            "ATAJO_PUBLIC_URL": self._settings.url,
            "ATAJO_METRICS_LISTEN": "127.0.0.1:0",
            "ATAJO_TOKEN_SECRET_FILE": str(self._folder.secret_file),
        }

    def _service_env(self, name: str) -> dict[str, str]:
        administration = {"ATAJO_ADMINISTRATION_SECRET": self._administration_secret}
        return {
            **(administration if name in _ADMINISTERED else {}),
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
            **self._backup_env(),
            "ATAJO_LISTEN": self._settings.endpoint(self._settings.port),
            "ATAJO_JOURNAL_DIR": str(self._folder.path / "journal"),
            "ATAJO_WEB_DIR": str(WEB_DIR),
        }

    def _backup_env(self) -> dict[str, str]:
        if not self._settings.backup_hours:
            return {}
        return {"ATAJO_BACKUP_DIR": str(self._folder.path / BACKUPS)}

    def _reconciler_env(self, services: Sequence[Child]) -> dict[str, str]:
        addresses = {child.name: child.addresses for child in services}
        admin = {
            f"ATAJO_{name.upper()}_ADMIN_ADDRESS": addresses[name]["admin"] for name in SERVICES
        }
        return {**admin, "ATAJO_ANALYTICS_ADDRESS": addresses["analytics"]["grpc"]}

    def _write_state(self) -> None:
        """Write which process listens where. Raises Failed."""
        try:
            self._folder.write_state(self._state())
        except OSError as error:
            raise Failed(explain(self._folder.path, error)) from None

    def _state(self) -> dict[str, object]:
        return {
            "pid": os.getpid(),
            "url": self._settings.url,
            "domains": [format_origin(url) for url in self._settings.domains],
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
