"""Measures what one user notices while a stranger attacks: `make bench-attack`.

All processes and nginx run with the limits of production, on SQLite or, with `STORE=mongodb`, on
MongoDB. A user from one address follows cached and uncached links, creates links, and reads lists
and statistics, 20 times a second in all. Phases of a minute each:

1. quiet: only the user.
2. attack: a stranger from another address sends, all together and each as fast as responses come,
   URLs of nothing but brackets (64,000 characters to createShortLink, 523,000 and 500 times 960
   to checkImport, 100 times 960 to the REST API), imports of 470 kB on 250 connections of one
   account and on some of nine others, and creations with full fields, by createShortLink and
   with 29 keys of ten accounts by the REST API.
3. control: the stranger sends each kind of call at the same rate to another nginx, which discards
   it. What the user notices now is the work of the stranger's client on the shared cores.

Prints the user's latencies and errors, the stranger's answers, what was stored, and memory, CPU
time and event loop delays of each process. Fails if a process ended or the reconciler lost its
lease. Writes `reports/bench-attack.json`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import re
import secrets
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from itertools import cycle, repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from pymongo import MongoClient

from deploy.local.store import store_of
from tests.performance import bench
from tests.performance.attack_load import (
    Answers,
    Operation,
    Stranger,
    attack,
    call,
    get,
    use,
)
from tests.performance.bench import need, settle
from tests.support.api_client import ApiClient
from tests.support.gateway_client import new_code
from tests.support.mongo import server
from tests.support.nginx import Nginx
from tests.support.ports import free_port
from tests.support.processes import NO_TLS, ROOT
from tests.support.product import PROCESSES, SERVICES, Product

SECONDS = 60
ACCOUNTS = 10
"""Of the stranger. An address registers 30 an hour."""
KEYS_OF_THE_FIRST = 20
HOT_LINKS = 20
COLD_PER_SECOND = 4
_PHASES = ("quiet", "attack", "control")
_STORES = ("sqlite", "mongodb")
_SETTINGS = {"ATAJO_ENVIRONMENT": "production", "ATAJO_TRUSTED_PROXIES": "127.0.0.1/32"}
_LOOPS = ("links", "gateway")
GOALS = {
    "user": "no errors; p99 during the attack at most 3 times that of the other phases",
    "memory": "gateway under 896 MiB, links under 384 MiB",
}


class Store(NamedTuple):
    """The store of a product."""

    setting: str
    """What a `Product` takes for it."""
    folder: Path
    pids: dict[str, int]
    """Its own processes."""

    def links(self) -> int:
        """Return the number of links."""
        url = store_of("links", self.setting, self.folder)
        if not self.setting:
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
                number: int = connection.execute("SELECT count(*) FROM links").fetchone()[0]
                return number
        with MongoClient[dict[str, Any]](url) as client:
            return client.get_default_database().links.count_documents({})

    def size(self) -> int:
        """Return the bytes of all data: of the files, or of documents and indexes."""
        if not self.setting:
            return sum(path.stat().st_size for path in self.folder.glob("*.sqlite3*"))
        size = 0
        for service in SERVICES:
            with MongoClient[dict[str, Any]](
                store_of(service, self.setting, self.folder)
            ) as client:
                stats = client.get_default_database().command("dbStats")
                size += int(stats["dataSize"] + stats["indexSize"])
        return size


@contextmanager
def _store(name: str, folder: Path) -> Iterator[Store]:
    if name == "sqlite":
        yield Store("", folder, {})
        return
    with server.nodes(1, "--replSet", server.SET, *server.SMALL) as (node,):
        node.start()
        with server.database(server.initiate([node.port])) as url:
            yield Store(url, folder, {"mongod": node.pid})


class Processes:
    """Memory and CPU time of processes by name, since the last `reset`."""

    def __init__(self, pids: Mapping[str, Sequence[int]]) -> None:
        self._pids = pids
        self.reset()

    def reset(self) -> None:
        """Forget the peak of memory, and the CPU time so far."""
        for pids in self._pids.values():
            for pid in pids:
                Path(f"/proc/{pid}/clear_refs").write_text("5")
        self._cpu = self._cpu_seconds()
        self._before = self._megabytes("VmRSS")

    def report(self) -> dict[str, dict[str, float]]:
        """Return resident MiB before and at the peak, and CPU seconds."""
        peaks, cpu = self._megabytes("VmHWM"), self._cpu_seconds()
        return {
            name: {
                "before": self._before[name],
                "peak": peaks[name],
                "cpu_seconds": cpu[name] - self._cpu[name],
            }
            for name in self._pids
        }

    def _cpu_seconds(self) -> dict[str, float]:
        return {name: sum(map(_cpu_seconds, pids)) for name, pids in self._pids.items()}

    def _megabytes(self, field: str) -> dict[str, float]:
        """Return a field of the status of processes. Raises AssertionError if one has ended."""
        return {
            name: sum(_status_megabytes(pid, field) for pid in pids)
            for name, pids in self._pids.items()
        }


def _status_megabytes(pid: int, field: str) -> float:
    found = re.search(rf"{field}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found, f"process {pid} has ended"
    return int(found[1]) / 1024


def _cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process, with those of threads that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def loop_delays(product: Product, name: str) -> dict[float, float]:
    """Return how often the event loop of a process was delayed by at most so many seconds."""
    text = httpx.get(product.metrics_url(name), verify=NO_TLS).text
    found = re.findall(r'^atajo_event_loop_lag_seconds_bucket{.*le="(.+?)".*} (.+)$', text, re.M)
    return {float(bound): float(number) for bound, number in found}


def worst_delay(before: dict[float, float], after: dict[float, float]) -> float:
    """Return a bound of the longest delay in seconds, inf above the largest bucket."""
    total = after[math.inf] - before[math.inf]
    return min(bound for bound in after if after[bound] - before[bound] >= total)


def prepare_stranger(product: Product) -> Stranger:
    """Register the stranger's accounts and create their keys."""
    tokens = [product.log_in(product.register()) for _ in range(ACCOUNTS)]
    owners = [tokens[0]] * KEYS_OF_THE_FIRST + tokens[1:]
    keys = [ApiClient(product, token=token).key for token in owners]
    return Stranger(tokens, keys[:KEYS_OF_THE_FIRST], keys[KEYS_OF_THE_FIRST:])


def prepare_user(product: Product, uncached: int) -> list[Operation]:
    """Create the user's account and links; return what the user does."""
    token = product.log_in(product.register())
    codes = [new_code() for _ in range(HOT_LINKS + uncached)]
    for start in range(0, len(codes), 200):
        rows = [
            {"row": row, "code": code, "url": f"https://example.com/{code}", "title": f"Link {row}"}
            for row, code in enumerate(codes[start : start + 200], start)
        ]
        imported = {"token": token, "import_id": secrets.token_urlsafe(16), "rows": rows}
        product.data("importLinks", imported)
    product.stop("gateway")  # It has cached the links that it imported.
    product.start("gateway")
    hot = codes[:HOT_LINKS]
    url = "https://example.com/page"
    creations = (call("createShortLink", token=token, code=new_code(), url=url) for _ in repeat(0))
    return [
        Operation("hot redirect", 6, (get(f"/{code}") for code in cycle(hot)), 302),
        Operation(
            "cold redirect", COLD_PER_SECOND, (get(f"/{code}") for code in codes[HOT_LINKS:]), 302
        ),
        Operation("createShortLink", 4, creations),
        Operation("showLinks", 3, repeat(call("showLinks", token=token))),
        Operation("showStatistics", 3, repeat(call("showStatistics", token=token, code=hot[0]))),
    ]


class Measurement:
    """Measures one phase after the other of a running product behind nginx at `port`."""

    def __init__(self, product: Product, front: Nginx, port: int, store: Store) -> None:
        pids = {name: [product.pid(name)] for name in PROCESSES}
        pids |= {"nginx": front.pids(), **{name: [pid] for name, pid in store.pids.items()}}
        self._pids = [pid for each in pids.values() for pid in each]
        self._processes = Processes(pids)
        self._product = product
        self._port = port
        self._store = store

    def phase(
        self,
        operations: Sequence[Operation],
        seconds: int,
        start: Callable[[], Future[Answers]] | None = None,
    ) -> dict[str, Any]:
        """Return what happens while the user works and the stranger does what `start` starts."""
        settle(self._pids)
        delays = self._delays()
        links, size = self._store.links(), self._store.size()
        self._processes.reset()
        attacking = start() if start else None
        latencies = asyncio.run(use(self._port, operations, seconds))
        answers = attacking.result() if attacking else Answers()
        return {
            "user": {name: _quantiles(ms) for name, ms in latencies.milliseconds.items()},
            "errors": dict(latencies.errors),
            "answers": [[*key, number] for key, number in sorted(answers.items(), key=str)],
            "stored": {"links": self._store.links() - links, "bytes": self._store.size() - size},
            "processes": self._processes.report(),
            "delays": {
                name: worst_delay(delays[name], after) for name, after in self._delays().items()
            },
        }

    def _delays(self) -> dict[str, dict[float, float]]:
        return {name: loop_delays(self._product, name) for name in _LOOPS}


def measure(name: str, seconds: int) -> dict[str, Any]:
    """Return the measurements of all phases by title."""
    port, context = free_port(), get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as temporary,
        ProcessPoolExecutor(1, mp_context=context) as pool,
        _store(name, folder := Path(temporary)) as store,
        bench.nginx(folder, core=None) as discarding,
        Product(folder, _SETTINGS, store=store.setting, front=port) as product,
    ):
        work = folder / "nginx"
        work.mkdir()
        product.start()
        with Nginx(work, product.address("gateway"), product.url, port=port) as front:
            stranger = prepare_stranger(product)
            operations = prepare_user(product, len(_PHASES) * seconds * COLD_PER_SECOND)
            pool.submit(attack, port, stranger, 0.0).result()  # Start the stranger's process.
            measurement = Measurement(product, front, port, store)
            quiet = measurement.phase(operations, seconds)
            full_speed = partial(pool.submit, attack, port, stranger, seconds)
            attacked = measurement.phase(operations, seconds, full_speed)
            rates: Counter[str] = Counter()
            for kind, _, number in attacked["answers"]:
                rates[kind] += number / seconds
            elsewhere = int(discarding.strip("/").rpartition(":")[2])
            paced = partial(pool.submit, attack, elsewhere, stranger, seconds, rates)
            control = measurement.phase(operations, seconds, paced)
        lost = product.logs("reconciler").count('"lease_lost"')
    return dict(zip(_PHASES, (quiet, attacked, control), strict=True)) | {"lost leases": lost}


def _quantiles(milliseconds: list[float]) -> dict[str, float]:
    ordered = sorted(milliseconds)
    p50, p99 = (ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.99))
    return {"calls": len(ordered), "p50": p50, "p99": p99, "max": ordered[-1]}


def _print(store: str, report: dict[str, Any]) -> None:
    phases = _PHASES
    print(f"{store}: the user's p50, p99 and max in ms")
    print(f"{'':18}" + "".join(f"{phase:>24}" for phase in phases))
    for name in report["quiet"]["user"]:
        cells = (report[phase]["user"][name] for phase in phases)
        print(
            f"{name:18}" + "".join(f"{c['p50']:8.1f}{c['p99']:8.1f}{c['max']:8.1f}" for c in cells)
        )
    for phase in phases:
        print(f"errors, {phase}: {report[phase]['errors'] or 'none'}")
    print("answers to the stranger")
    for kind, outcome, number in report["attack"]["answers"]:
        print(f"  {kind:28}{outcome:>8}{number:8,}")
    for phase in phases:
        stored = report[phase]["stored"]
        print(f"stored, {phase}: {stored['links']:,} links, {stored['bytes'] / 1e6:,.1f} MB")
    print(f"{'':12}" + "".join(f"{phase + ': MiB, peak, CPU s':>30}" for phase in phases))
    for name in report["quiet"]["processes"]:
        cells = (report[phase]["processes"][name] for phase in phases)
        print(
            f"{name:12}"
            + "".join(f"{c['before']:14.0f}{c['peak']:8.0f}{c['cpu_seconds']:8.1f}" for c in cells)
        )
    for name in _LOOPS:
        worst = ", ".join(f"{phase} {report[phase]['delays'][name]:g} s" for phase in phases)
        print(f"event loop of {name} delayed by at most: {worst}")
    print(f"goals: {GOALS['user']}; {GOALS['memory']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="of each phase")
    parser.add_argument("--store", choices=_STORES, default=os.environ.get("STORE") or "sqlite")
    options = parser.parse_args()
    need("nginx")
    report = measure(options.store, options.seconds)
    _print(options.store, report)
    path = ROOT / "reports" / "bench-attack.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({options.store: report, "goals": GOALS}, indent=2))
    if lost := report["lost leases"]:
        raise SystemExit(f"The reconciler lost its leases {lost} times.")


if __name__ == "__main__":
    main()
