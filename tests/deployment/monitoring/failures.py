"""A product under load, and the failures that drills cause."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import grpc
import httpx

from atajo.links.v1 import links_pb2, links_pb2_grpc
from gateway.visits.journal.journal import HEADROOM
from services.shared.backups import MARK, TIME_FORMAT
from tests.support.gateway_client import hashed, new_code
from tests.support.http_connection import Connection, NotReachedError
from tests.support.mongo.replica_set import ReplicaSet
from tests.support.nginx import start_gateway
from tests.support.ports import free_port
from tests.support.processes import NO_TLS, Process
from tests.support.product import PROCESSES, Product
from tests.support.waiting import wait_until

_PASSWORD = "Camino-42"
_REPLICA = "gateway-1"
_HALF_A_CALL = (
    b"POST /createShortLink HTTP/1.1\r\nhost: localhost\r\n"
    b"content-type: application/json\r\ncontent-length: 100\r\n\r\n{"
)
_DRAIN_SECONDS = 10
"""Seconds for which the second gateway drains."""


class DrillProduct(Product):
    """Five processes and a second gateway, each with a fixed metrics address.

    Rate limits are off, so that one machine can simulate a crowd.
    """

    def __init__(self, folder: Path, database: ReplicaSet | None = None) -> None:
        store = f"{database.url}atajo" if database else ""
        self.lists = folder / "lists"
        self.lists.mkdir()
        (self.lists / "phishing.txt").write_text("phish.example\n")
        self.backups = folder / "backups"
        self.make_backup()
        settings = {
            "ATAJO_LIMITS": "off",
            "ATAJO_BLOCKLIST_DIR": str(self.lists),
            "ATAJO_BACKUP_DIR": str(self.backups),
            "ATAJO_BACKUP_HOURS": "24",
        }
        super().__init__(folder, settings, store=store)
        self.database = database
        self.targets = {name: f"127.0.0.1:{free_port()}" for name in (*PROCESSES, _REPLICA)}
        self.replica: Process

    def make_backup(self) -> Path:
        """Make what looks like an automatic backup of this moment, and return its folder."""
        backup = self.backups / f"{datetime.now(UTC):{TIME_FORMAT}}"
        backup.mkdir(parents=True)
        (backup / MARK).touch()
        return backup

    def start(self, *names: str) -> None:
        super().start(*names)
        if not names:
            self.start_replica()

    def start_replica(self, broken: str = "") -> None:
        """Start the second gateway, which can be made to fail, or fails in a given way from now on.

        Ways: `tests.deployment.monitoring.breaking`.
        """
        settings = {
            "ATAJO_METRICS_LISTEN": self.targets[_REPLICA],
            "ATAJO_DRAIN_SECONDS": str(_DRAIN_SECONDS),
            "BROKEN": broken,
        }
        folder = self.folder / _REPLICA
        self.replica = start_gateway(self, folder, settings, "tests.deployment.monitoring.breaking")

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Make visits (one in ten of an unknown code), creations and log-ins."""
        email = self.register()
        code = self.shorten("https://example.com/")
        with (
            self.calling(0.03, lambda call: call.ask("GET", f"/{code}")),
            self.calling(0.3, lambda call: call.ask("GET", f"/{new_code()}")),
            self.calling(0.1, lambda call: call.ask("POST", "/createShortLink", _link())),
            self.calling(0.2, lambda call: call.ask("POST", "/verifyUser", _log_in(email))),
        ):
            yield

    def calling(
        self, pause: float, ask: Callable[[Connection], object], people: int = 1
    ) -> AbstractContextManager[None]:
        """Clients that repeat requests whatever the response."""

        def call(over: threading.Event) -> None:
            connection = Connection(self.url, 70)
            while not over.wait(pause):
                try:
                    ask(connection)
                except (NotReachedError, OSError):
                    over.wait(0.1)
            connection.close()

        return _beside(call, people)

    def _env(self, name: str) -> dict[str, str]:
        return super()._env(name) | {"ATAJO_METRICS_LISTEN": self.targets[name]}

    def __exit__(self, *error: object) -> None:
        self.replica.kill()
        super().__exit__(*error)


def _link() -> dict[str, str | None]:
    return {"code": new_code(), "url": "https://example.com/", "token": None}


def _log_in(email: str) -> dict[str, str]:
    return {"email": email, "password": _PASSWORD}


@contextmanager
def _beside(act: Callable[[threading.Event], None], threads: int = 1) -> Iterator[None]:
    """Do something in a number of threads while the block runs."""
    over = threading.Event()
    running = [threading.Thread(target=act, args=(over,)) for _ in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in running:
            thread.join()


def killed(name: str) -> Callable[[DrillProduct], AbstractContextManager[None]]:
    """A process is killed, and started again as the repair."""

    @contextmanager
    def broken(product: DrillProduct) -> Iterator[None]:
        product.kill(name)
        try:
            yield
        finally:
            product.start(name)

    return broken


def crash_loop(product: DrillProduct) -> AbstractContextManager[None]:
    """analytics exits about every two seconds."""

    def crash(over: threading.Event) -> None:
        while not over.wait(1.5):
            product.kill("analytics")
            product.start("analytics")

    return _beside(crash)


@contextmanager
def silent_replica(product: DrillProduct) -> Iterator[None]:
    """One of two gateways is frozen."""
    os.kill(product.replica.popen.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(product.replica.popen.pid, signal.SIGCONT)


@contextmanager
def breaking_lookups(product: DrillProduct) -> Iterator[None]:
    """Every lookup of one of two gateways fails unexpectedly."""

    def look_up(over: threading.Event) -> None:
        with httpx.Client(
            base_url=f"http://{product.replica.addresses['http']}", verify=NO_TLS
        ) as http:
            while not over.wait(0.5):
                http.get(f"/{new_code()}")

    os.kill(product.replica.popen.pid, signal.SIGUSR1)
    with _beside(look_up):
        yield
    os.kill(product.replica.popen.pid, signal.SIGUSR1)


@contextmanager
def _broken_replica(product: DrillProduct, broken: str) -> Iterator[None]:
    product.replica.kill()
    product.start_replica(broken)
    try:
        yield
    finally:
        product.replica.kill()
        product.start_replica()


def untold_changes(product: DrillProduct) -> AbstractContextManager[None]:
    """One of two gateways receives no changes, although it reaches links."""
    return _broken_replica(product, "changes")


def no_key(product: DrillProduct) -> AbstractContextManager[None]:
    """One of two gateways starts without a visitor key, although it reaches analytics."""
    return _broken_replica(product, "key")


@contextmanager
def broken_background(product: DrillProduct) -> Iterator[None]:
    """One of two gateways stops itself, and waits for a call that is never complete."""
    host, port = product.replica.addresses["http"].split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(_HALF_A_CALL)
        os.kill(product.replica.popen.pid, signal.SIGUSR2)
        yield
    assert product.replica.wait() == 1
    product.start_replica()


@contextmanager
def starved(product: DrillProduct) -> Iterator[None]:
    """links gets little CPU time, in pieces, under high load."""
    pid = product.pid("links")

    def starve(over: threading.Event) -> None:
        while not over.wait(0.1):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.3)
            os.kill(pid, signal.SIGCONT)

    unknown = product.calling(0.02, lambda call: call.ask("GET", f"/{new_code()}"))
    with unknown, _beside(starve):
        yield


def slow_store(product: DrillProduct) -> AbstractContextManager[None]:
    """Another process writes to the file of links in long transactions."""

    def hold(over: threading.Event) -> None:
        with closing(sqlite3.connect(product.folder / "links.sqlite3", timeout=10)) as file:
            while not over.wait(0.05):
                file.execute("BEGIN IMMEDIATE")
                over.wait(0.8)
                file.rollback()

    return _beside(hold)


@contextmanager
def full_store(product: DrillProduct) -> Iterator[None]:
    """The files of links cannot grow."""
    pid = product.pid("links")
    limit = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (32 << 10, limit[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limit)


@contextmanager
def large_store(product: DrillProduct) -> Iterator[None]:
    """The log of auth's store is a sparse file of five times the size of its disk."""
    file = product.folder / "auth.sqlite3"
    log = Path(f"{file}-wal")
    disk = os.statvfs(log)
    os.truncate(log, log.stat().st_size + 5 * disk.f_bavail * disk.f_frsize)
    yield
    with closing(sqlite3.connect(file, timeout=10)) as connection:
        wait_until(lambda: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)


@contextmanager
def lost_table(product: DrillProduct) -> Iterator[None]:
    """A table of links that is read twice a second is gone; everything else is there."""
    with closing(sqlite3.connect(product.folder / "links.sqlite3", timeout=10)) as file:
        file.execute("ALTER TABLE decisions RENAME TO lost")
        try:
            yield
        finally:
            file.execute("ALTER TABLE lost RENAME TO decisions")


@contextmanager
def damaged_record(product: DrillProduct) -> Iterator[None]:
    """A guest lists links, of which one was created at a time that no date can represent."""
    link = _link() | {"guest": "d" * 43}
    product.data("createShortLink", link)
    change = "UPDATE links SET created_at = created_at + ? WHERE code = ?"
    with closing(sqlite3.connect(product.folder / "links.sqlite3", timeout=10)) as file:
        with file:
            file.execute(change, (2**62, link["code"]))
        payload = {"guest": link["guest"]}
        with product.calling(0.2, lambda call: call.ask("POST", "/showLinks", payload)):
            yield
        with file:
            file.execute(change, (-(2**62), link["code"]))


@contextmanager
def full_disk(product: DrillProduct) -> Iterator[None]:
    """Another process fills the disk of the journal, and keeps it full."""
    ballast = product.folder / "journal" / "ballast"
    assert ballast.parent.is_mount(), "it would fill a disk that others use"

    def fill(over: threading.Event) -> None:
        with ballast.open("ab", buffering=0) as file:
            while not over.wait(0.2):
                disk = os.statvfs(ballast.parent)
                file.write(bytes(max(0, disk.f_bavail * disk.f_frsize - HEADROOM)))

    with _beside(fill):
        yield
    ballast.unlink()


@contextmanager
def _lease(product: DrillProduct, job: str) -> Iterator[Callable[[int], bool]]:
    """Take the lease of a job for a number of seconds. Returns whether it is held."""
    with grpc.insecure_channel(product.admin_address("links")) as channel:
        take = links_pb2_grpc.MaintenanceServiceStub(channel).TakeLease

        def held(seconds: int) -> bool:
            request = links_pb2.TakeLeaseRequest(job=job, holder="drill", seconds=seconds)
            return take(request, timeout=20).held

        try:
            yield held
        finally:
            held(0)


@contextmanager
def taken_lease(product: DrillProduct) -> Iterator[None]:
    """Another process holds the lease of a task and does nothing, as if a clock were far ahead."""
    with _lease(product, "purge") as held:
        product.stop("reconciler")
        assert held(3600)
        product.start("reconciler")
        yield


@contextmanager
def taken_sweep(product: DrillProduct) -> Iterator[None]:
    """A list changes while another process holds the lease of the rescan."""
    with _lease(product, "blocklists") as held:
        wait_until(lambda: held(3600))
        (product.lists / "spam.txt").write_text("spam.example\n")
        yield


@contextmanager
def broken_list(product: DrillProduct) -> Iterator[None]:
    """A list is replaced by an HTML error page."""
    page = product.lists / ".page"
    page.write_text("<html>\n<body>\nbad gateway\n</body>\n</html>\n")
    page.rename(product.lists / "phishing.txt")
    yield
    (product.lists / "phishing.txt").write_text("phish.example\n")


@contextmanager
def reported(product: DrillProduct) -> Iterator[None]:
    """A link is reported repeatedly until the operator has decided."""
    code = product.shorten("https://example.com/reported")
    payload = {"code": code, "reason": "phishing"}
    with product.calling(0.1, lambda call: call.ask("POST", "/reportLink", payload)):
        yield
    with grpc.insecure_channel(product.admin_address("links")) as channel:
        request = links_pb2.DismissReportsRequest(code=code, cause="A drill.")
        links_pb2_grpc.ModerationServiceStub(channel).DismissReports(request, timeout=20)


@contextmanager
def old_report(product: DrillProduct) -> Iterator[None]:
    """A report of a link is two days old."""
    code = product.shorten("https://example.com/old")
    product.data("reportLink", {"code": code, "reason": "spam"})
    two_days = 2 * 86_400 * 10**6
    with closing(sqlite3.connect(product.folder / "links.sqlite3", timeout=10)) as file:
        with file:
            file.execute(
                "UPDATE reports SET first_at = first_at - ? WHERE code = ?", (two_days, code)
            )
        yield
        with file:
            file.execute("DELETE FROM reports WHERE code = ?", (code,))


@contextmanager
def lost_backup(product: DrillProduct) -> Iterator[None]:
    """There is no automatic backup, and then one is made."""
    shutil.rmtree(product.backups)
    yield
    product.make_backup()


def unknown_keys(product: DrillProduct) -> AbstractContextManager[None]:
    """Requests of the REST API repeatedly have no key."""
    return product.calling(0.1, lambda call: call.ask("GET", "/api/v1/links"), 20)


def guessed_codes(product: DrillProduct) -> AbstractContextManager[None]:
    """Recovery codes are guessed for many accounts."""
    number = count()
    hashed_password = hashed("Camino-42")

    def guess(call: Connection) -> None:
        payload = {
            "email": f"{next(number)}@example.com",
            "recovery_code": "0000-0000-0000",
            "new_password": hashed_password["password"],
            "new_salt": hashed_password["salt"],
        }
        call.ask("POST", "/resetPassword", payload)

    return product.calling(0.1, guess, 3)


def searched(product: DrillProduct) -> AbstractContextManager[None]:
    """An owner repeatedly searches a hundred times concurrently."""
    payload = {"guest": "g" * 43, "query": "example"}
    return product.calling(0, lambda call: call.ask("POST", "/showLinks", payload), 100)


def burst(product: DrillProduct) -> AbstractContextManager[None]:
    """A hundred users repeatedly log in concurrently."""
    email = product.register()
    return product.calling(0, lambda call: call.ask("POST", "/verifyUser", _log_in(email)), 100)


@contextmanager
def store_away(product: DrillProduct) -> Iterator[None]:
    """Every connection to MongoDB is cut, and new ones are refused."""
    assert product.database
    product.database.cut()
    try:
        yield
    finally:
        product.database.mend()
