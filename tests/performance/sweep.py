"""Measures the rescan of a million links after a blocklist changed: `make bench-sweep`.

One links process has a million links, four for each of 250,000 hosts, on SQLite and on MongoDB
(`tests.support.mongo`). It starts without a list and scans all links, as after an upgrade with new
rules. Then a list of a million hosts is added, which names every hundredth of those hosts, and
deleted again. Each figure is the time from the change in the folder until links match the lists; it
includes noticing the change and reading the list. After each, exactly the links to listed hosts
must be blocked. Prints the figures and writes reports/bench-sweep.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

import httpx

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.links.domain.host import host_key
from services.links.domain.link import Link
from services.links.domain.owner import ANONYMOUS
from services.links.storage import mongo, sqlite
from services.links.storage.mongo.documents import encode_link
from services.shared.rpc import channels, client
from tests.performance.fill import code_of, opened
from tests.performance.fill_mongo import filled, insert
from tests.support.mongo import server
from tests.support.processes import ROOT, Process

LINKS = 1_000_000
LINKS_OF_A_HOST = 4
LISTED = 1_000_000
HOSTS_OF_A_LISTED_ONE = 100
"""One in so many hosts is listed."""
_AT_A_TIME = 1000
_STORES = ("SQLite", "MongoDB")
_LOOK_SECONDS = 0.1
_MAX_SECONDS = 600.0
_SERVICE = pb.DESCRIPTOR.services_by_name["LinksService"]


def _host(number: int) -> str:
    return f"www.site{number}.example"


def _host_of_link(number: int) -> int:
    return number // LINKS_OF_A_HOST


def _url(number: int) -> str:
    """Return the destination of the n-th link."""
    return f"https://{_host(_host_of_link(number))}/articles/{number}"


class Store(Protocol):
    """A store for a links process."""

    setting: str
    """The value of ATAJO_STORE."""

    def fill(self) -> None:
        """Store the links."""


class SqliteStore:
    """A file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.setting = f"sqlite:///{path}"

    def fill(self) -> None:
        micros = time.time_ns() // 1000 - LINKS
        links, hosts = [], []
        for number in range(LINKS):
            code, host = code_of(number), _host(_host_of_link(number))
            links.append((code, _url(number), "", micros + number))
            hosts.append((host_key(host), code))
        with closing(opened(self._path, sqlite.MIGRATIONS)) as connection:
            connection.executemany(
                "INSERT INTO links (code, url, creator, created_at) VALUES (?, ?, ?, ?)", links
            )
            connection.executemany("INSERT INTO hosts VALUES (?, ?)", sorted(hosts))
            connection.commit()


class MongoStore:
    """A database."""

    def __init__(self, url: str) -> None:
        self.setting = url

    def fill(self) -> None:
        at = datetime.now(UTC) - timedelta(seconds=1)
        links = (
            Link(code_of(number), _url(number), ANONYMOUS, at + timedelta(microseconds=number))
            for number in range(LINKS)
        )
        with filled(self.setting, mongo.SCHEMA) as documents:
            insert(documents, "links", map(encode_link, links))


def _write_list(path: Path) -> None:
    of_links = range(0, LINKS // LINKS_OF_A_HOST, HOSTS_OF_A_LISTED_ONE)
    others = range(LINKS, LINKS + LISTED - len(of_links))
    path.write_text(
        "".join(f"{_host(number)}\n" for numbers in (of_links, others) for number in numbers)
    )


class Sweeps:
    """A links process, its list folder, and the progress of its rescans."""

    def __init__(self, folder: Path, store: str) -> None:
        self._lists = folder / "lists"
        self._lists.mkdir()
        self._aside = folder / "phishing.txt"
        _write_list(self._aside)
        self._settings = {
            "ATAJO_STORE": store,
            "ATAJO_PUBLIC_URL": "https://atajo.example",
            "ATAJO_ADMIN_LISTEN": "127.0.0.1:0",
            "ATAJO_METRICS_LISTEN": "127.0.0.1:0",
            "ATAJO_BLOCKLIST_DIR": str(self._lists),
        }
        self._log = folder / "log"

    def start(self) -> Process:
        return Process.start("services.links", self._settings, self._log)

    def list_comes(self) -> None:
        self._aside.rename(self._lists / self._aside.name)

    def list_goes(self) -> None:
        (self._lists / self._aside.name).rename(self._aside)


def _behind(process: Process) -> float:
    """Seconds for which links have not matched the lists."""
    text = httpx.get(f"http://{process.addresses['metrics']}/metrics").text
    name = "atajo_blocklist_sweep_behind_seconds "
    return next(float(line.split()[1]) for line in text.splitlines() if line.startswith(name))


def _await_sweep(process: Process) -> float:
    """Return the seconds until a rescan has started and finished."""
    began = time.monotonic()
    for is_behind in (True, False):
        while (_behind(process) > 0) != is_behind:
            assert time.monotonic() - began < _MAX_SECONDS
            time.sleep(_LOOK_SECONDS)
    return time.monotonic() - began


def _check_blocked(process: Process, *, listed: bool) -> None:
    """Assert that exactly the links to listed hosts are blocked, if there is a list."""
    for number, reason in enumerate(asyncio.run(_reasons(process))):
        assert bool(reason) == (listed and _host_of_link(number) % HOSTS_OF_A_LISTED_ONE == 0)


async def _reasons(process: Process) -> list[int]:
    """Return the reason for each link's block, or 0."""
    reasons: list[int] = []
    async with channels.open_channel(process.grpc, _SERVICE) as channel:
        caller, stub = client.Caller(_SERVICE), pb_grpc.LinksServiceStub(channel)
        for first in range(0, LINKS, _AT_A_TIME):
            codes = [code_of(number) for number in range(first, first + _AT_A_TIME)]
            request = pb.ResolveLinksRequest(codes=codes)
            reply = await caller.unary("ResolveLinks", stub.ResolveLinks, request, 20)
            found = {one.code: one.reason for one in reply.resolutions}
            reasons += [found[code] for code in codes]
    return reasons


def _measure(folder: Path, store: Store) -> dict[str, float]:
    store.fill()
    sweeps = Sweeps(folder, store.setting)
    with sweeps.start() as process:
        first = _await_sweep(process)
        sweeps.list_comes()
        comes = _await_sweep(process)
        _check_blocked(process, listed=True)
        sweeps.list_goes()
        goes = _await_sweep(process)
        _check_blocked(process, listed=False)
    return {
        "links": LINKS,
        "hosts on the list": LISTED,
        "the first start, s": first,
        "a list comes, s": comes,
        "it goes, s": goes,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stores", nargs="*", choices=_STORES, default=_STORES)
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    if "SQLite" in options.stores:
        with tempfile.TemporaryDirectory(prefix="atajo-bench-") as name:
            folder = Path(name)
            found["SQLite"] = _measure(folder, SqliteStore(folder / "links.sqlite3"))
    if "MongoDB" in options.stores:
        with (
            server.running() as url,
            server.database(url) as own,
            tempfile.TemporaryDirectory(prefix="atajo-bench-") as name,
        ):
            found["MongoDB"] = _measure(Path(name), MongoStore(own))
    told = json.dumps(found, indent=2)
    print(told)
    report = ROOT / "reports" / "bench-sweep.json"
    report.parent.mkdir(exist_ok=True)
    report.write_text(told + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
