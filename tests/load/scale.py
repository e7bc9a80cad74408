"""What single operations take while more and more is kept: `make bench-scale`.

The files of stopped services are filled; what is measured goes through the running ones. At each
size, three rounds of: creations and cold redirects by wrk through the gateway, 32 at a time (the
time is the gateway's, or the service's, for one of them: seconds by answers); showProfile of an
account with 500 links, one after the other; batches of 5,000 visits of as many links, of which
the analytics service keeps visits already, one after the other. Medians. Prints a table and
writes `reports/bench-scale.json`.

A batch is the one that grows, by what its commit writes: among 10 thousand links its visits share
the store's pages, among a million nearly each has one of its own. Past that there is no more to
grow; visits of fewer links cost less at every size.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import jwt

from gateway.clients import AnalyticsClient
from gateway.visits.ledger import Batch
from gateway.visits.lines import Visit
from tests.load.bench import (
    LOAD_CORE,
    SERVER_CORE,
    memory_megabytes,
    need,
    pin,
    write_scripts,
    wrk,
)
from tests.load.fill import (
    LINKS_OF_AN_ACCOUNT,
    code_of,
    fill_counts,
    fill_links,
    write_codes,
)
from tests.processes import ROOT
from tests.product import SERVICES, Product

SIZES = (10_000, 100_000, 1_000_000)
COLUMNS = {
    "create": "create",
    "cold_redirect": "cold redirect",
    "show_profile": "showProfile of 500",
    "visit_batch": "batch of 5,000 visits",
}
BATCH = 5_000
_ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, metavar="LINKS", help="in rising order"
    )
    parser.add_argument("--seconds", type=int, default=3, help="of each load by wrk")
    options = parser.parse_args()
    need("wrk", "taskset")
    with tempfile.TemporaryDirectory() as name:
        found = measure(Path(name), sorted(options.sizes), options.seconds)
    report(found)


def measure(folder: Path, sizes: list[int], seconds: int) -> dict[int, dict[str, float]]:
    """Milliseconds of each operation, by the number of links kept."""
    found: dict[int, dict[str, float]] = {}
    settings = {
        "ATAJO_LIMITS": "off",
        "ATAJO_LOG_LEVEL": "warning",
        "ATAJO_CACHE_BYTES": "1",  # Every redirect is cold, whatever the size.
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
                _give_first_links_to(folder / "links.sqlite3", account)
            filled = size
            product.start("links", "analytics", "gateway")
            pin(product.pid("gateway"), SERVER_CORE)
            for service in SERVICES:
                pin(product.pid(service), LOAD_CORE)
            found[size] = _round(product, token, size, seconds)
            print(f"{size:>12,} links measured", flush=True)
    return found


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
    for number in range(_ROUNDS):
        taken["create"].append(_per_answer(url, seconds, scripts["create"]))
        taken["cold_redirect"].append(_per_answer(url, seconds, scripts["cold"]))
        _await_no_visits_pending(product)
        taken["show_profile"] += _times(20, lambda: _show_profile(product, token))
        taken["visit_batch"] += asyncio.run(_batches(product, size, f"bench-{size}-{number}"))
    files = (product.folder / f"{name}.sqlite3" for name in ("links", "analytics"))
    return {
        **{name: statistics.median(times) * 1000 for name, times in taken.items()},
        "file_megabytes": sum(path.stat().st_size for path in files) / 1e6,
        "memory_megabytes": sum(memory_megabytes(product.pid(n)) for n in (*SERVICES, "gateway")),
    }


def _per_answer(url: str, seconds: int, script: Path) -> float:
    row = wrk(url, seconds, script)
    assert not row["failed"], row
    return 1 / row["per_second"]


def _await_no_visits_pending(product: Product) -> None:
    deadline = time.monotonic() + 60
    while "\natajo_visits_pending 0.0" not in product.http.get(product.metrics_url("gateway")).text:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _show_profile(product: Product, token: str) -> None:
    assert len(product.data("showProfile", {"token": token})["data"]) == LINKS_OF_AN_ACCOUNT


def _times(count: int, operation: Callable[[], None]) -> list[float]:
    times = []
    for _ in range(count):
        started = time.perf_counter()
        operation()
        times.append(time.perf_counter() - started)
    return times


async def _batches(product: Product, size: int, gateway: str) -> list[float]:
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


def report(found: dict[int, dict[str, float]]) -> None:
    """Print the table and write the file."""
    print(f"{'links':>12}" + "".join(f"{title:>24}" for title in COLUMNS.values()) + "    files")
    for size, row in found.items():
        print(
            f"{size:12,}"
            + "".join(f"{row[name]:21.3f} ms" for name in COLUMNS)
            + f"{row['file_megabytes']:6,.0f} MB"
        )
    first, last = found[min(found)], found[max(found)]
    print(f"{'last : first':>12}" + "".join(f"{last[n] / first[n]:24.2f}" for n in COLUMNS))
    file = ROOT / "reports" / "bench-scale.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({str(size): row for size, row in found.items()}, indent=2))


if __name__ == "__main__":
    main()
