"""The whole product as separate processes, which tests can kill and restart one by one."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from deploy.local.store import store_of
from tests.support.gateway_client import ALPHABET, GatewayClient
from tests.support.ports import free_port
from tests.support.processes import NO_TLS, Process
from tests.support.waiting import wait_until

SERVICES = ("auth", "links", "analytics")
CALLERS = ("gateway", "reconciler")
"""The processes that call the services, and start after them."""
ADMINISTRATION_SECRET = "adm1n1sters-n0thing-but-tests-0123456789"
PROCESSES = (*SERVICES, *CALLERS)


def to_service(name: str) -> str:
    """Return the service of a replica, such as `analytics` of `analytics-2`."""
    return name.partition("-")[0]


def to_module(name: str) -> str:
    """Return the module of a process."""
    return name if name == "gateway" else f"services.{to_service(name)}"


class Product(GatewayClient):
    """Five processes with one folder. A restarted process keeps its address.

    `store` is the URL of a MongoDB server or database; each service uses a database of its own,
    with a name derived from it. Without `store`, the services keep SQLite files in the folder.
    `front` is the port of a proxy in front of the gateway. A product for measurements is not
    `forked`: its processes start as an operator starts them. On MongoDB, services may have further
    `replicas`, such as `analytics-2`.
    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, str] | None = None,
        *,
        store: str = "",
        front: int | None = None,
        forked: bool = True,
        replicas: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self.services = (*SERVICES, *replicas)
        self.processes = (*self.services, *CALLERS)
        self._forked = forked
        self._store = store
        self.settings = dict(settings or {})
        self._processes: dict[str, Process] = {}
        # The services need the public URL before the gateway runs.
        port = free_port()
        self._addresses = {name: f"127.0.0.1:{free_port()}" for name in self.services}
        self._admin = {name: f"127.0.0.1:{free_port()}" for name in self.services}
        self._addresses["gateway"] = f"127.0.0.1:{port}"
        # Not 127.0.0.1: the public URL must contain a host name, and `localhost` marks a local one.
        super().__init__(f"http://localhost:{front or port}")

    def start(self, *names: str) -> None:
        """Start processes, by default all, and wait until they serve."""
        wanted = names or self.processes
        self._launch(name for name in wanted if name not in CALLERS)
        # The gateway checks the services as soon as it serves.
        self._launch(name for name in wanted if name in CALLERS)

    def _launch(self, names: Iterable[str]) -> None:
        """Start processes concurrently, and wait until they serve."""
        launched: list[str] = []
        for name in names:
            log = self.folder / f"{name}.log"
            self._processes[name] = Process.launch(
                to_module(name), self._env(name), log, forked=self._forked
            )
            launched.append(name)
        for name in launched:
            process = self._processes[name]
            try:
                process.await_ready()
            except BaseException:
                self.kill(*launched)
                raise

    def kill(self, *names: str) -> None:
        """Send SIGKILL to processes, by default to all."""
        for name in names or self.processes:
            self._processes.pop(name).kill()

    def stop(self, name: str) -> int:
        """Stop a process in good order; return its exit code."""
        with self._processes.pop(name) as process:
            return process.stop()

    def revive(self) -> None:
        """Restart ended processes, and wait until all dependencies of the gateway are `ok`.

        The gateway checks them once a second, so it may not have noticed a recent end yet.
        """
        ended = [name for name in self.processes if not self._runs(name)]
        for name in ended:
            if old := self._processes.pop(name, None):
                old.kill()
        if ended:
            self.start(*ended)
        wait_until(lambda: set(self.dependencies().values()) == {"ok"})

    def _runs(self, name: str) -> bool:
        return name in self._processes and self._processes[name].popen.poll() is None

    @contextmanager
    def suspended(self, name: str) -> Iterator[None]:
        """Suspend a process during the block: it accepts data but does not answer."""
        pid = self.pid(name)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def pid(self, name: str) -> int:
        """Return the pid of a running process."""
        return self._processes[name].popen.pid

    def address(self, name: str) -> str:
        """Return the address of a process: of its gRPC server, or of the gateway's HTTP server."""
        return self._addresses[name]

    def target(self, service: str) -> str:
        """Return the gRPC target of all replicas of a service."""
        several = [self._addresses[name] for name in self.services if to_service(name) == service]
        return several[0] if len(several) == 1 else f"ipv4:{','.join(several)}"

    def admin_address(self, name: str) -> str:
        """Return the address of a service's gRPC server for the operator and the reconciler."""
        return self._admin[name]

    def store_setting(self, name: str) -> str:
        """Return the `ATAJO_STORE` of a service."""
        return store_of(name, self._store, self.folder)

    def metrics_url(self, name: str) -> str:
        """Return the URL of the metrics of a running process."""
        return f"http://{self._processes[name].addresses['metrics']}/metrics"

    def dependencies(self, name: str = "gateway") -> dict[str, str]:
        """Return the state of each dependency of a running process."""
        readyz = f"http://{self._processes[name].addresses['metrics']}/readyz"
        states: dict[str, str] = httpx.get(readyz, verify=NO_TLS).json()["dependencies"]
        return states

    def metric(self, series: str, process: str = "gateway") -> float:
        """Return the value of a series of a running process, named as on its metrics page."""
        lines = httpx.get(self.metrics_url(process), verify=NO_TLS).text.splitlines()
        return float(next(line.split()[-1] for line in lines if line.startswith(series + " ")))

    def logs(self, name: str = "*") -> str:
        """Return the log of one process, or of all processes, since the first start."""
        return "".join(path.read_text() for path in sorted(self.folder.glob(f"{name}.log")))

    def _env(self, name: str) -> dict[str, str]:
        secret = self.folder / "token-secret"
        if not secret.exists():
            secret.touch(mode=0o600)
            secret.write_text("".join(random.choices(ALPHABET, k=48)))
        env = {
            "ATAJO_ENVIRONMENT": "local",
            "ATAJO_PUBLIC_URL": self.url,
            "ATAJO_METRICS_LISTEN": "127.0.0.1:0",
        }
        if name in CALLERS:
            env |= {f"ATAJO_{s.upper()}_ADDRESS": self.target(s) for s in SERVICES}
        if name == "gateway":
            env["ATAJO_LISTEN"] = self._addresses[name]
            env["ATAJO_JOURNAL_DIR"] = str(self.folder / "journal")
        elif name == "reconciler":
            env |= {f"ATAJO_{s.upper()}_ADMIN_ADDRESS": self._admin[s] for s in SERVICES}
        else:
            env["ATAJO_LISTEN"] = self._addresses[name]
            env["ATAJO_ADMIN_LISTEN"] = self._admin[name]
            env["ATAJO_STORE"] = self.store_setting(to_service(name))
            env["ATAJO_TOKEN_SECRET_FILE"] = str(secret)
            env["ATAJO_ADMINISTRATION_SECRET"] = ADMINISTRATION_SECRET
        return env | self.settings

    def __exit__(self, *error: object) -> None:
        for name in list(self._processes):
            self.kill(name)
        super().__exit__(*error)
