"""Measures single operations as the amount of data grows: `make bench-scale`.

Fills the files of stopped services and measures through the running ones. At each size there are
three rounds: creations and cold redirects by wrk through the gateway, 32 at a time (the time of the
gateway or service divided by the number of responses); showProfile of an account with 500 links,
one at a time; batches of 5,000 visits of as many links that were visited before, one at a time.
Prints a table of medians and writes `reports/bench-scale.json`.

CPU time is that of the services and the gateway together. On a busy machine it says more than the
clock.

One account has 100,000 links. The table has the 95th percentile of its lists, requested from links
one at a time: a page of 100 links, newest and oldest first, most viewed, and with a text that one
link has; each with the total. Then cold redirects are measured again, with ten such pages, two
searches and a ranking a second. Last, the owner of another account with as many links, each visited
on ten days, closes it: the time until nothing is left, the CPU time of each process, and the
latency of a redirect and of a lookup of totals before and meanwhile.

Filling in ten million links takes about ten minutes and 4 GB.

Then the lists of such an account, and cold redirects beside them, are measured on MongoDB, among a
million other links.

Then statistics, on a separate store with a hundred million visits over ten years (`visits`), on
SQLite and MongoDB: each range of one link (95th percentile) and of an owner's 100, 1,000 and
100,000 together, uncached and cached, requested from analytics one at a time; the latency of a
small call beside them; and the bytes per visit. Then batches of 5,000 visits with all names, in
pairs with the services of another commit (`--base`). Filling in either takes about half an hour and
6 GB. MongoDB is the server of the tests (`tests.support.mongo`).

Only batches grow with size, because of what their commit writes: among 10 thousand links visits
share the store's pages, among a million nearly each has its own. Beyond that they do not grow.
Visits of fewer links cost less at every size.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import sqlite3
import statistics
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path

import jwt

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from deploy.local.store import store_of
from gateway.backends.analytics import AnalyticsClient
from gateway.visits.journal.batch import Batch
from gateway.visits.journal.lines import Visit
from services.shared.rpc import channels
from tests.performance import fill_mongo, visits
from tests.performance.bench import (
    LOAD_CORE,
    SERVER_CORE,
    cpu_seconds,
    memory_megabytes,
    need,
    pin,
    write_scripts,
    wrk,
)
from tests.performance.fill import (
    LINKS_OF_AN_ACCOUNT,
    LISTED_ACCOUNT,
    code_of,
    fill_counts,
    fill_days,
    fill_links,
    fill_list,
    write_codes,
)
from tests.support.mongo import server
from tests.support.processes import ROOT
from tests.support.product import SERVICES, Product

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
COLUMNS = {
    "create": "create",
    "cold_redirect": "cold redirect",
    "redirect_beside_lists": "beside lists",
    "show_profile": "showProfile of 500",
    "visit_batch": "batch of 5,000 visits",
}
LISTED = 100_000
LISTS = {
    "newest": pb.QueryLinksRequest(order=pb.LINK_ORDER_NEWEST),
    "oldest": pb.QueryLinksRequest(order=pb.LINK_ORDER_OLDEST),
    "most_viewed": pb.QueryLinksRequest(order=pb.LINK_ORDER_MOST_VIEWED),
    "search": pb.QueryLinksRequest(text=f"AÑO {LISTED // 2}"),
}
"""Reads of the account with many links."""
LIST_GOALS = {"newest": 30, "oldest": 30, "search": 300}
"""95th percentile in milliseconds."""
_BESIDE = ["newest", "oldest"] * 5 + ["search"] * 2 + ["most_viewed"]
"""Reads per second beside the measured redirects."""
STATISTICS_GOAL = 100
"""95th percentile in milliseconds for one link and any range."""
MAX_VISITS = 100_000_000
BATCH = 5_000
_ROUNDS = 3
_REMOVAL_SECONDS = 3600
_QUIET_ROUNDS = 20
_BATCH_TITLE = "batch of 5,000 visits"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=SIZES, metavar="LINKS", help="in rising order"
    )
    parser.add_argument("--seconds", type=int, default=3, help="of each load by wrk")
    parser.add_argument(
        "--visits", type=int, default=MAX_VISITS, help="of which statistics are read; 0 for none"
    )
    parser.add_argument(
        "--mongodb-links",
        type=int,
        default=1_000_000,
        metavar="LINKS",
        help="beside which lists are read on MongoDB; 0 for none",
    )
    parser.add_argument(
        "--mongodb-visits", type=int, default=MAX_VISITS, help="the same on MongoDB; 0 for none"
    )
    parser.add_argument(
        "--filled",
        type=Path,
        metavar="FILE",
        help="an SQLite store that has them already",
    )
    parser.add_argument(
        "--mongodb-filled", metavar="URL", help="a database that has them already, which is kept"
    )
    parser.add_argument(
        "--base", default="HEAD", metavar="COMMIT", help="whose services take batches in pairs"
    )
    options = parser.parse_args()
    need("wrk", "taskset")
    with tempfile.TemporaryDirectory() as name:
        if options.sizes:
            report_removal(measure(Path(name), sorted(options.sizes), options.seconds))
    if options.mongodb_links:
        with (
            server.running() as url,
            server.database(url) as own,
            tempfile.TemporaryDirectory() as name,
        ):
            report_lists(lists_on_mongodb(Path(name), own, options.mongodb_links, options.seconds))
    found: dict[str, dict[str, float]] = {}
    try:
        if options.visits:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                tree = _tree_of(options.base, folder)
                for rows in statistics_on_sqlite(folder, tree, options.visits, options.filled):
                    found |= _named("SQLite", rows)
        if count := options.mongodb_visits:
            with server.running() as url, tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                tree = _tree_of(options.base, folder)
                filled = options.mongodb_filled
                for rows in statistics_on_mongodb(folder, tree, url, count, filled):
                    found |= _named("MongoDB", rows)
    finally:
        if found:
            report_statistics(found)


def measure(folder: Path, sizes: list[int], seconds: int) -> dict[str, float]:
    """Report each operation by the number of links. Returns the cost of a removal at the end."""
    found: dict[int, dict[str, float]] = {}
    settings = {
        "ATAJO_LIMITS": "off",
        "ATAJO_LOG_LEVEL": "warning",
        "ATAJO_CACHE_BYTES": "1",  # Every redirect is cold at every size.
    }
    with Product(folder, settings) as product:
        product.start()
        token = product.log_in(product.register())
        account = str(jwt.decode(token, options={"verify_signature": False})["sub"])
        filled = 0
        for size in sizes:
            for service in ("gateway", "links", "analytics"):
                product.stop(service)
            fill_links(folder / "links.sqlite3", filled, size)
            fill_counts(folder / "analytics.sqlite3", filled, size)
            if not filled:
                fill_list(folder / "links.sqlite3", LISTED)
                _give_first_links_to(folder / "links.sqlite3", account)
            filled = size
            product.start("links", "analytics", "gateway")
            pin(product.pid("gateway"), SERVER_CORE)
            for service in SERVICES:
                pin(product.pid(service), LOAD_CORE)
            found[size] = _round(product, token, size, seconds)
            report(found)  # A run may be stopped before its last size.
        return _removal(product)


def _give_first_links_to(path: Path, account: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE links SET creator = ? WHERE creator = ?", (account, f"{0:024x}"))
        connection.commit()


def _round(product: Product, token: str, size: int, seconds: int) -> dict[str, float]:
    codes = product.folder / "codes"
    write_codes(codes, size)
    scripts = write_scripts(product.folder, codes)
    url = product.url.replace("localhost", "127.0.0.1")
    taken: dict[str, list[float]] = {name: [] for name in COLUMNS}
    cores: dict[str, list[float]] = {name: [] for name in COLUMNS}

    def of_a_core(name: str, measure: Callable[[], tuple[list[float], float]]) -> None:
        before = _cpu_seconds(product)
        times, operations = measure()
        taken[name] += times
        cores[name].append((_cpu_seconds(product) - before) / operations)

    for number in range(_ROUNDS):
        for name, script in (("create", "create"), ("cold_redirect", "cold")):
            of_a_core(name, partial(_answers, url, seconds, scripts[script]))
        _await_no_visits_pending(product)
        of_a_core("show_profile", lambda: _times(20, lambda: _show_profile(product, token)))
        gateway = f"bench-{size}-{number}"
        of_a_core("visit_batch", partial(_batches, product, size, gateway))
        beside, _ = asyncio.run(
            _beside_lists(product, lambda: _answers(url, seconds, scripts["cold"]))
        )
        taken["redirect_beside_lists"] += beside
        _await_no_visits_pending(product)
    listed, listed_cores = asyncio.run(_lists(product))
    files = (product.folder / f"{name}.sqlite3" for name in ("links", "analytics"))
    return {
        **{name: statistics.median(times) * 1000 for name, times in taken.items()},
        **{name: statistics.quantiles(times, n=20)[-1] * 1000 for name, times in listed.items()},
        **{_core(name): statistics.median(one) * 1000 for name, one in cores.items() if one},
        **{_core(name): seconds * 1000 for name, seconds in listed_cores.items()},
        "file_megabytes": sum(path.stat().st_size for path in files) / 1e6,
        "memory_megabytes": sum(memory_megabytes(product.pid(n)) for n in (*SERVICES, "gateway")),
    }


def _core(name: str) -> str:
    return f"{name}, of a core"


def _cpu_seconds(product: Product) -> float:
    return sum(cpu_seconds(product.pid(name)) for name in (*SERVICES, "gateway"))


def _answers(url: str, seconds: int, script: Path) -> tuple[list[float], float]:
    """Return the seconds per response, and the number of responses."""
    row = wrk(url, seconds, script)
    assert not row["failed"], row
    return [1 / row["per_second"]], row["requests"]


def _await_no_visits_pending(product: Product) -> None:
    deadline = time.monotonic() + 60
    while "\natajo_visits_pending 0.0" not in product.http.get(product.metrics_url("gateway")).text:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _show_profile(product: Product, token: str) -> None:
    assert len(product.data("showProfile", {"token": token})["data"]) == LINKS_OF_AN_ACCOUNT


def _times(count: int, operation: Callable[[], None]) -> tuple[list[float], float]:
    times = []
    for _ in range(count):
        started = time.perf_counter()
        operation()
        times.append(time.perf_counter() - started)
    return times, count


def _batches(product: Product, size: int, gateway: str) -> tuple[list[float], float]:
    times = asyncio.run(_record_batches(product, size, gateway))
    return times, len(times)


async def _record_batches(product: Product, size: int, gateway: str) -> list[float]:
    client = AnalyticsClient(product.address("analytics"))
    hour = int(time.time()) // 3600
    times = []
    for number in range(1, 11):
        chosen = random.sample(range(size), BATCH)
        counts = {Visit(code_of(n), hour, "person", ""): 1 for n in chosen}
        started = time.perf_counter()
        await client.record(Batch(gateway, number, counts, BATCH))
        times.append(time.perf_counter() - started)
    await client.close()
    return times


@asynccontextmanager
async def _links(product: Product) -> AsyncIterator[Callable[[str], Awaitable[float]]]:
    """Reads the list of this name and returns the seconds it took."""
    service = pb.DESCRIPTOR.services_by_name["LinksService"]
    async with channels.open_channel(product.address("links"), service) as channel:
        stub: pb_grpc.LinksServiceAsyncStub = pb_grpc.LinksServiceStub(channel)

        async def read(name: str) -> float:
            request = pb.QueryLinksRequest(owner=pb.Owner(account_id=LISTED_ACCOUNT), limit=100)
            request.MergeFrom(LISTS[name])
            started = time.perf_counter()
            page = await stub.QueryLinks(request, timeout=20)
            taken = time.perf_counter() - started
            expected = (1, 1) if name == "search" else (100, LISTED)
            assert (len(page.links), page.total) == expected
            return taken

        yield read


async def _lists(
    product: Product, of_server: Callable[[], float] = lambda: 0.0
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the seconds of each read, and the CPU seconds per read.

    `of_server` returns the CPU seconds of the store's server so far.
    """
    times: dict[str, list[float]] = {}
    cores: dict[str, float] = {}

    def taken() -> float:
        return cpu_seconds(product.pid("links")) + of_server()

    async with _links(product) as read:
        for name in LISTS:
            before = taken()
            times[name] = [await read(name) for _ in range(40)]
            cores[name] = (taken() - before) / len(times[name])
    return times, cores


def lists_on_mongodb(folder: Path, store: str, others: int, seconds: int) -> dict[str, float]:
    """Measure lists among many other links, and cold redirects without and beside them."""
    settings = {"ATAJO_LIMITS": "off", "ATAJO_LOG_LEVEL": "warning", "ATAJO_CACHE_BYTES": "1"}
    url = store_of("links", store, folder)
    started = time.monotonic()
    fill_mongo.fill_list(url, LISTED)
    fill_mongo.fill_links(url, 0, others)
    found: dict[str, float] = {"links": others, "seconds to fill": time.monotonic() - started}
    codes = folder / "codes"
    write_codes(codes, others)
    script = write_scripts(folder, codes)["cold"]
    with Product(folder, settings, store=store) as product:
        product.start(*SERVICES, "gateway")
        pin(product.pid("gateway"), SERVER_CORE)
        for service in SERVICES:
            pin(product.pid(service), LOAD_CORE)
        gateway = product.url.replace("localhost", "127.0.0.1")
        redirects: dict[str, list[float]] = {"cold redirect": [], "beside lists": []}
        for _ in range(_ROUNDS):
            redirects["cold redirect"] += _answers(gateway, seconds, script)[0]
            _await_no_visits_pending(product)
            beside = _beside_lists(product, lambda: _answers(gateway, seconds, script))
            redirects["beside lists"] += asyncio.run(beside)[0]
            _await_no_visits_pending(product)
        listed, cores = asyncio.run(_lists(product, partial(fill_mongo.cpu_seconds, url)))
    for name, times in redirects.items():
        found[name] = statistics.median(times) * 1000
    for name, times in listed.items():
        found[name] = statistics.quantiles(times, n=20)[-1] * 1000
        found[_core(name)] = cores[name] * 1000
    return found


def _removal(product: Product) -> dict[str, float]:
    """Measure the removal of an account with many links."""
    email = product.register()
    token = product.log_in(email)
    account = str(jwt.decode(token, options={"verify_signature": False})["sub"])
    for service in ("gateway", "links", "analytics", "reconciler"):
        product.stop(service)
    codes = fill_list(product.folder / "links.sqlite3", LISTED, account, 1 << 41)
    fill_days(product.folder / "analytics.sqlite3", codes, 10)
    product.start("links", "analytics", "gateway", "reconciler")
    pids = {name: product.pid(name) for name in (*SERVICES, "gateway", "reconciler")}
    for pid in pids.values():
        pin(pid, LOAD_CORE)
    pin(pids["gateway"], SERVER_CORE)
    quiet = asyncio.run(_others(product, iter(range(_QUIET_ROUNDS))))
    before = {name: cpu_seconds(pid) for name, pid in pids.items()}
    started = time.monotonic()
    gone = {"token": token, "password": "Camino-42"}
    assert product.data("removeAccount", gone) == {"success": True}
    beside = asyncio.run(_others(product, _until_removed(product)))
    found = {"seconds": time.monotonic() - started}
    found |= {_core(name): cpu_seconds(pid) - before[name] for name, pid in pids.items()}
    for when, taken in (("before it", quiet), ("beside it", beside)):
        found |= {f"{name} {when}": number for name, number in taken.items()}
    return found


def _until_removed(product: Product) -> Iterator[int]:
    """Waits until the reconciler has removed an account."""
    deadline = time.monotonic() + _REMOVAL_SECONDS
    for number in itertools.count():
        if product.metric("atajo_accounts_removed_total", "reconciler") >= 1:
            return
        assert time.monotonic() < deadline
        yield number


async def _others(product: Product, rounds: Iterator[int]) -> dict[str, float]:
    """Measures other operations, for about a second per round, in milliseconds."""
    taken: dict[str, list[float]] = {"redirect": [], "totals": []}
    analytics = AnalyticsClient(product.address("analytics"))
    for _ in rounds:
        for _ in range(40):
            code = code_of(random.randrange(min(SIZES)))
            started = time.perf_counter()
            assert (await asyncio.to_thread(product.visit, code)).status_code == 302
            redirected = time.perf_counter()
            await analytics.totals([code])
            taken["redirect"].append(redirected - started)
            taken["totals"].append(time.perf_counter() - redirected)
            await asyncio.sleep(0.02)
    await analytics.close()
    return {
        f"{name}, p{part}": 1000 * sorted(times)[len(times) * part // 100]
        for name, times in taken.items()
        for part in (50, 99)
    }


async def _beside_lists(
    product: Product, measure: Callable[[], tuple[list[float], float]]
) -> tuple[list[float], float]:
    """Measurements while lists are read."""

    async def read_lists() -> None:
        async with _links(product) as read:
            for name in itertools.cycle(_BESIDE):
                await asyncio.gather(read(name), asyncio.sleep(1 / len(_BESIDE)))

    reading = asyncio.create_task(read_lists())
    measured = await asyncio.to_thread(measure)
    assert not reading.done(), reading.result()
    reading.cancel()
    return measured


def report(found: dict[int, dict[str, float]]) -> None:
    """Print the table of the sizes so far, and write the file."""
    print(f"{'links':>12}" + "".join(f"{title:>24}" for title in COLUMNS.values()) + "    files")
    for size, row in found.items():
        print(
            f"{size:12,}"
            + "".join(f"{row[name]:21.3f} ms" for name in COLUMNS)
            + f"{row['file_megabytes']:6,.0f} MB"
        )
    first, last = found[min(found)], found[max(found)]
    print(f"{'last : first':>12}" + "".join(f"{last[n] / first[n]:24.2f}" for n in COLUMNS))
    print(f"{'lists, p95':>12}" + "".join(f"{name.replace('_', ' '):>24}" for name in LISTS))
    for size, row in found.items():
        print(f"{size:12,}" + "".join(f"{row[name]:21.3f} ms" for name in LISTS))
    print(f"{'of a core':>12}")
    for size, row in found.items():
        of_operations = (f"{row.get(_core(name), 0):21.3f} ms" for name in COLUMNS)
        print(f"{size:12,}" + "".join(of_operations))
        print(f"{'lists':>12}" + "".join(f"{row[_core(name)]:21.3f} ms" for name in LISTS))
    goals = (f"under {LIST_GOALS[name]} ms" if name in LIST_GOALS else "" for name in LISTS)
    print(f"{'goal':>12}" + "".join(f"{goal:>24}" for goal in goals))
    _write("bench-scale", {str(size): row for size, row in found.items()})


def report_lists(found: dict[str, float]) -> None:
    """Print the measurements of lists on MongoDB, and write their file."""
    print("lists on MongoDB, p95, and redirects")
    for name, number in found.items():
        goal = f"   under {LIST_GOALS[name]} ms" if name in LIST_GOALS else ""
        print(f"{name:>32} {number:14,.2f}{goal}")
    _write("bench-lists-mongodb", found)


def report_removal(found: dict[str, float]) -> None:
    """Print the measurements of a removal, and write their file."""
    print(f"removal of an account with {LISTED:,} links")
    for name, number in found.items():
        print(f"{name:>32} {number:12,.1f}")
    _write("bench-removal", found)


def statistics_on_sqlite(
    folder: Path, tree: Path, count: int, filled_before: Path | None
) -> Iterator[dict[str, dict[str, float]]]:
    """Yield the measurements of statistics as soon as they are known."""
    path = filled_before or folder / "analytics.sqlite3"
    filled: dict[str, float] = {"visits": count}
    if not filled_before:
        started = time.monotonic()
        visits.fill_sqlite(path, count)
        filled["seconds to fill"] = time.monotonic() - started
    filled["bytes a visit"] = path.stat().st_size / count
    yield {"store": filled}
    yield visits.measure(f"sqlite:///{path}", folder)
    files = (f"sqlite:///{folder}/now.sqlite3", f"sqlite:///{folder}/base.sqlite3")
    yield {_BATCH_TITLE: visits.measure_batches(files, tree, folder)}


def statistics_on_mongodb(
    folder: Path, tree: Path, url: str, count: int, filled_before: str | None
) -> Iterator[dict[str, dict[str, float]]]:
    """The same for databases on a server."""
    with ExitStack() as stack:
        filled_url, now, base = (stack.enter_context(server.database(url)) for _ in range(3))
        filled: dict[str, float] = {"visits": count}
        if filled_before:
            filled_url = filled_before
        else:
            started = time.monotonic()
            visits.fill_mongodb(filled_url, count)
            filled["seconds to fill"] = time.monotonic() - started
        filled["bytes a visit"] = fill_mongo.size(filled_url) / count
        yield {"store": filled}
        yield visits.measure(filled_url, folder)
        yield {_BATCH_TITLE: visits.measure_batches((now, base), tree, folder)}


def _named(store: str, found: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    return {f"{store}: {title}": row for title, row in found.items()}


def _tree_of(commit: str, folder: Path) -> Path:
    """Return a folder with the services of a commit."""
    tree = folder / "base"
    tree.mkdir()
    archive = ["git", "archive", commit, "services", "proto", "deploy"]
    packed = subprocess.run(archive, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-x", "-C", str(tree)], input=packed, check=True)
    return tree


def report_statistics(found: dict[str, dict[str, float]]) -> None:
    """Print the table of statistics and write its file."""
    for title, row in found.items():
        print(f"{title:>32}" + "".join(f"{name:>16} {n:11,.1f}" for name, n in row.items()))
        if "seconds to fill" in row and row["visits"] < MAX_VISITS:
            times = MAX_VISITS / row["visits"]
            print(f"{'':>32} {MAX_VISITS:,}: {row['seconds to fill'] * times / 60:,.0f} minutes")
    print(f"{'goal':>32} 64 bytes a visit; 1 link under {STATISTICS_GOAL} ms")
    _write("bench-statistics", found)


def _write(name: str, found: Mapping[str, object]) -> None:
    file = ROOT / "reports" / f"{name}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
