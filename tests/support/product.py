"""The whole product as single processes, which can be killed and started again one by one."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import string
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import bcrypt
import httpx

from deploy.local.store import store_of
from tests.support.processes import NO_TLS, ROOT, Process
from tests.support.waiting import SETTLED, await_that

SERVICES = ("auth", "links", "analytics")
CALLERS = ("gateway", "reconciler")
"""Those that call the services, and begin once they are there."""
PROCESSES = (*SERVICES, *CALLERS)
BROWSER = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36"
)
"""User-Agent of a person."""
_FIRST_PORT, _WORKERS, _PORTS_OF_WORKER = 10_000, 8, 2_750
"""Ports of tests: below those that Linux gives to connections by itself, from 32,768 on."""
ALPHABET = string.ascii_letters + string.digits + "-_"


class Client:
    """A gateway at `url`, as those who come to it use it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.Client(timeout=30, follow_redirects=False, verify=NO_TLS)

    def call(self, function: str, data: object) -> httpx.Response:
        """Call a function."""
        return self.http.post(f"{self.url}/{function}", json={"data": data})

    def data(self, function: str, data: object) -> Any:
        """Call a function that answers 200; returns what stands under `data`."""
        response = self.call(function, data)
        assert response.status_code == 200, response.text
        return response.json()["data"]

    def shorten(self, url: str, token: str | None = None, code: str | None = None) -> str:
        """Make a link; returns its code."""
        code = code or new_code()
        reply = self.data("createShortLink", {"code": code, "url": url, "token": token})
        assert reply["success"], reply
        return code

    def visit(self, code: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
        """Follow a short address as a person's browser does."""
        return self.http.get(
            f"{self.url}/{code}", headers={"user-agent": BROWSER, **(headers or {})}
        )

    def register(self, email: str | None = None, password: str = "Camino-42") -> str:
        """Make an account; returns its e-mail address."""
        email = email or f"{new_code()}@example.com"
        assert self.data("registerUser", {**_hashed(password), "email": email}) == {"success": True}
        return email

    def log_in(self, email: str, password: str = "Camino-42") -> str:
        """Log in; returns the session token."""
        reply = self.data("verifyUser", {"email": email, "password": password})
        assert reply["success"], reply
        token: str = reply["token"]
        return token

    def views(self, token: str) -> dict[str, int]:
        """Views by code of an account's links, once they are known.

        Analytics may have answered too late a moment ago: the gateway then asks it again only
        after some seconds, and shows links without views until then.
        """
        deadline = time.monotonic() + SETTLED
        while True:
            reply = self.data("showProfile", {"token": token})
            views = {link["short_link"]: link["views"] for link in reply["data"]}
            if None not in views.values():
                return views
            assert time.monotonic() < deadline, f"no views are known within {SETTLED} s"
            time.sleep(0.1)

    def await_views(self, token: str, wanted: Mapping[str, int]) -> None:
        """Wait until an account has just these links, each with so many views."""
        await_that(lambda: self.views(token) == wanted, SETTLED)


class Product(Client):
    """Five processes over one folder. A process keeps its address when it is started again.

    `store` is the URL of a MongoDB database, of which each service has one named after it; without,
    the services keep SQLite files in the folder. `front` is the port of what stands in front of the
    gateway, where something does. One that is measured is not `forked`: its processes start as an
    operator starts them.
    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, str] | None = None,
        *,
        store: str = "",
        front: int | None = None,
        forked: bool = True,
    ) -> None:
        self.folder = folder
        self._forked = forked
        self._store = store
        self._settings = dict(settings or {})
        self._processes: dict[str, Process] = {}
        # The public address is told to the services before the gateway runs.
        port = free_port()
        self._addresses = {name: f"127.0.0.1:{free_port()}" for name in SERVICES}
        self._admin = {name: f"127.0.0.1:{free_port()}" for name in SERVICES}
        self._addresses["gateway"] = f"127.0.0.1:{port}"
        # The name, not the number: what is public is a host, and loopback is recognised by it.
        super().__init__(f"http://localhost:{front or port}")

    def start(self, *names: str) -> None:
        """Start processes, all of them where none is named, and wait until they serve."""
        wanted = names or PROCESSES
        self._launch(name for name in wanted if name not in CALLERS)
        # The gateway looks at them as soon as it serves.
        self._launch(name for name in wanted if name in CALLERS)

    def _launch(self, names: Iterable[str]) -> None:
        """Start processes at once, and wait until they serve."""
        launched: list[str] = []
        for name in names:
            module = name if name == "gateway" else f"services.{name}"
            log = self.folder / f"{name}.log"
            self._processes[name] = Process.launch(
                module, self._env(name), log, forked=self._forked
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
        """End processes with SIGKILL."""
        for name in names or PROCESSES:
            self._processes.pop(name).kill()

    def stop(self, name: str) -> int:
        """Stop a process in good order; returns its exit code."""
        with self._processes.pop(name) as process:
            return process.stop()

    def revive(self) -> None:
        """Start those processes again that have ended, and wait until the gateway calls all well.

        It looks once a second: of what ended just now it may not have noticed the end.
        """
        ended = [name for name in PROCESSES if not self._runs(name)]
        for name in ended:
            if old := self._processes.pop(name, None):
                old.kill()
        if ended:
            self.start(*ended)
        await_that(lambda: set(self.dependencies().values()) == {"ok"})

    def _runs(self, name: str) -> bool:
        return name in self._processes and self._processes[name].popen.poll() is None

    @contextmanager
    def asleep(self, name: str) -> Iterator[None]:
        """For the block a process takes what it is sent and answers nothing."""
        pid = self.pid(name)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def pid(self, name: str) -> int:
        """Process id of a running process."""
        return self._processes[name].popen.pid

    def address(self, name: str) -> str:
        """Where a process that was started serves: gRPC, or the gateway's HTTP."""
        return self._addresses[name]

    def admin_address(self, name: str) -> str:
        """Where a service serves the operator and the reconciler."""
        return self._admin[name]

    def metrics_url(self, name: str) -> str:
        """Where a running process shows its metrics."""
        return f"http://{self._processes[name].addresses['metrics']}/metrics"

    def dependencies(self, name: str = "gateway") -> dict[str, str]:
        """What a running process says of each thing it depends on."""
        readyz = f"http://{self._processes[name].addresses['metrics']}/readyz"
        states: dict[str, str] = httpx.get(readyz, verify=NO_TLS).json()["dependencies"]
        return states

    def metric(self, series: str, process: str = "gateway") -> float:
        """What a running process shows for a series, written as on its metrics page."""
        lines = httpx.get(self.metrics_url(process), verify=NO_TLS).text.splitlines()
        return float(next(line.split()[-1] for line in lines if line.startswith(series + " ")))

    def logs(self, name: str = "*") -> str:
        """All that was logged since the start, by one process where it is named."""
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
            env |= {f"ATAJO_{s.upper()}_ADDRESS": self._addresses[s] for s in SERVICES}
        if name == "gateway":
            env["ATAJO_LISTEN"] = self._addresses[name]
            env["ATAJO_JOURNAL_DIR"] = str(self.folder / "journal")
        elif name == "reconciler":
            env |= {f"ATAJO_{s.upper()}_ADMIN_ADDRESS": self._admin[s] for s in SERVICES}
        else:
            env["ATAJO_LISTEN"] = self._addresses[name]
            env["ATAJO_ADMIN_LISTEN"] = self._admin[name]
            env["ATAJO_STORE"] = store_of(name, self._store, self.folder)
            env["ATAJO_TOKEN_SECRET_FILE"] = str(secret)
        return env | self._settings

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name in list(self._processes):
            self.kill(name)
        self.http.close()


_given: set[int] = set()


def free_port() -> int:
    """A port nobody listens on just now, another one each time.

    It is none of those that systems give to connections by themselves: whoever is to listen there
    finds it free a while later, too. Tests that run beside each other draw from ranges of their
    own.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
    first = _FIRST_PORT + worker * _PORTS_OF_WORKER
    while True:
        port = random.SystemRandom().randrange(first, first + _PORTS_OF_WORKER)
        if port in _given:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        if len(_given) > _PORTS_OF_WORKER // 2:  # Those of long ago are free again.
            _given.clear()
        return port


def new_code() -> str:
    """A random code."""
    return "".join(random.choices(ALPHABET, k=8))


def registration(email: str, password: str = "Camino-42", cost: int = 10) -> dict[str, str]:
    """The payload of registerUser as the page makes it, for a user name `walker`."""
    salt = bcrypt.gensalt(cost)
    hashed = bcrypt.hashpw(password.encode(), salt)
    return {
        "email": email,
        "password": hashed.decode(),
        "salt": salt.decode(),
        "username": "walker",
    }


@cache
def _hashed(password: str) -> dict[str, str]:
    """A registration without an address: a hash takes 50 ms of a core, and tests make a thousand
    accounts. Who registers an address twice hashes twice, as the same hash is a repetition."""
    return registration("", password)


class FirebaseClient:
    """An unmodified Firebase Functions client, driven line by line."""

    def __init__(self, origin: str) -> None:
        driver = ROOT / "web" / "test" / "firebase-client.mjs"
        self._node = subprocess.Popen(
            ["node", str(driver), origin],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT / "web",
        )

    def call(self, name: str, data: object) -> dict[str, Any]:
        """Call a function; answers with `ok` and `data`, or `code`, `message` and `details`."""
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(json.dumps({"name": name, "data": data}) + "\n")
        self._node.stdin.flush()
        reply: dict[str, Any] = json.loads(self._node.stdout.readline())
        return reply

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._node.stdin is not None
        self._node.stdin.close()
        try:
            self._node.wait(10)
        except subprocess.TimeoutExpired:
            self._node.kill()
        if self._node.stdout:
            self._node.stdout.close()
