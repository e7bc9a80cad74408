"""A product in use, and the ways in which a drill breaks it."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path
from types import TracebackType

from gateway.visits.journal import HEADROOM
from tests.faults.database import Database
from tests.load_generator import Connection, NotReachedError
from tests.processes import Process
from tests.product import PROCESSES, Product, free_port, new_code
from tests.web import gateway_beside

_PASSWORD = "Camino-42"
_REPLICA = "gateway-1"


class Ground(Product):
    """Four processes and a second gateway, each of which keeps the address of its metrics.

    Nothing is limited, so that one machine may be a crowd.
    """

    def __init__(self, folder: Path, database: Database | None = None) -> None:
        store = database.url if database else ""
        super().__init__(folder, {"ATAJO_LIMITS": "off"}, store=store)
        self.database = database
        self.targets = {name: f"127.0.0.1:{free_port()}" for name in (*PROCESSES, _REPLICA)}
        self.replica: Process

    def start(self, *names: str) -> None:
        super().start(*names)
        if not names:
            settings = {"ATAJO_METRICS_LISTEN": self.targets[_REPLICA]}
            self.replica = gateway_beside(self, self.folder / _REPLICA, settings)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Visits, half of them of unknown codes, new links and log-ins, a few of each a second."""
        email = self.register()
        code = self.shorten("https://example.com/")
        with (
            self.calling(0.03, lambda call: call.ask("GET", f"/{code}")),
            self.calling(0.03, lambda call: call.ask("GET", f"/{new_code()}")),
            self.calling(0.1, lambda call: call.ask("POST", "/createShortLink", _link())),
            self.calling(0.2, lambda call: call.ask("POST", "/verifyUser", _log_in(email))),
        ):
            yield

    def calling(
        self, pause: float, ask: Callable[[Connection], object]
    ) -> AbstractContextManager[None]:
        """Somebody who asks over and over, whatever the answer is."""
        connection = Connection(self.url, 70)

        def call(over: threading.Event) -> None:
            try:
                ask(connection)
            except (NotReachedError, OSError):
                over.wait(0.1)
            over.wait(pause)

        return _repeating(call)

    def _env(self, name: str) -> dict[str, str]:
        return super()._env(name) | {"ATAJO_METRICS_LISTEN": self.targets[name]}

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.replica.kill()
        super().__exit__(kind, error, trace)


def _link() -> dict[str, str | None]:
    return {"code": new_code(), "url": "https://example.com/", "token": None}


def _log_in(email: str) -> dict[str, str]:
    return {"email": email, "password": _PASSWORD}


@contextmanager
def _repeating(act: Callable[[threading.Event], None]) -> Iterator[None]:
    """Do something over and over beside the block; `act` may wait on the event that ends it."""
    over = threading.Event()

    def go_on() -> None:
        while not over.is_set():
            act(over)

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def killed(name: str) -> Callable[[Ground], AbstractContextManager[None]]:
    """A process is gone, and started again for the repair."""

    @contextmanager
    def broken(ground: Ground) -> Iterator[None]:
        ground.kill(name)
        try:
            yield
        finally:
            ground.start(name)

    return broken


def crash_loop(ground: Ground) -> AbstractContextManager[None]:
    """analytics ends every two seconds or so."""

    def crash(over: threading.Event) -> None:
        ground.kill("analytics")
        ground.start("analytics")
        over.wait(1.5)

    return _repeating(crash)


@contextmanager
def silent_replica(ground: Ground) -> Iterator[None]:
    """One of two gateways is frozen."""
    os.kill(ground.replica.popen.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(ground.replica.popen.pid, signal.SIGCONT)


def starved(ground: Ground) -> AbstractContextManager[None]:
    """links gets a quarter of the time, in pieces."""
    pid = ground.pid("links")

    def starve(over: threading.Event) -> None:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.3)
        os.kill(pid, signal.SIGCONT)
        over.wait(0.1)

    return _repeating(starve)


def slow_store(ground: Ground) -> AbstractContextManager[None]:
    """Somebody else writes to the file of links, long at a time."""

    def hold(over: threading.Event) -> None:
        with closing(sqlite3.connect(ground.folder / "links.sqlite3", timeout=10)) as file:
            file.execute("BEGIN IMMEDIATE")
            over.wait(0.8)
            file.rollback()
        over.wait(0.05)

    return _repeating(hold)


@contextmanager
def full_store(ground: Ground) -> Iterator[None]:
    """The files of links may not grow."""
    pid = ground.pid("links")
    limit = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (32 << 10, limit[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limit)


@contextmanager
def full_disk(ground: Ground) -> Iterator[None]:
    """Something else takes what the disk of the journal has left, and whatever comes free."""
    ballast = ground.folder / "journal" / "ballast"
    assert ballast.parent.is_mount(), "it would fill a disk that others use"

    def fill(over: threading.Event) -> None:
        disk = os.statvfs(ballast.parent)
        room = disk.f_bavail * disk.f_frsize - HEADROOM
        if room > 0:
            with ballast.open("ab") as file:
                file.write(b"\0" * room)
        over.wait(0.2)

    with _repeating(fill):
        yield
    ballast.unlink()


@contextmanager
def burst(ground: Ground) -> Iterator[None]:
    """A hundred people log in at once, again and again."""
    email = ground.register()
    with ExitStack() as crowd:
        for _ in range(100):
            log_in = ground.calling(0, lambda call: call.ask("POST", "/verifyUser", _log_in(email)))
            crowd.enter_context(log_in)
        yield


@contextmanager
def store_away(ground: Ground) -> Iterator[None]:
    """Every connection to MongoDB is cut, and none taken."""
    assert ground.database
    ground.database.cut()
    try:
        yield
    finally:
        ground.database.mend()
