"""Measures how many visits a second are counted for minutes: `make bench-sustained`.

wrk sends redirects of links that are visited by Zipf's law, by thirteen browsers in turn. Once a
second, its pauses are changed so that visits wait for about a second in the gateway's journal: the
highest rate at which the journal does not grow. Then wrk sends without pauses, and its latency
shows whether visitors notice that counting falls behind. Everything shares all cores. On MongoDB,
analytics has two replicas. Prints a table and writes `reports/bench-sustained.json`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from deploy.local.store import store_of
from tests.performance import fill_mongo
from tests.performance.bench import cpu_seconds, lua_heads, need, wrk
from tests.performance.fill import code_of, fill_links
from tests.support.mongo import server
from tests.support.processes import ROOT
from tests.support.product import Product, to_service

STORES = ("sqlite", "mongodb")
SIZES = (20_000, 1_000_000)
SETTINGS = {
    "ATAJO_LIMITS": "off",
    "ATAJO_LOG_LEVEL": "warning",
    "ATAJO_TRUSTED_PROXIES": "127.0.0.0/8",  # So that visitors have different addresses.
}
CONNECTIONS = 64
_DRAWN = 4_000_000
"""Visits that are drawn in advance, and repeated after that."""
_WARM_SECONDS = 60
"""In which most links get the record of their day, and the rate settles."""
_OVERLOAD_SECONDS = 20
_PENDING_SECONDS = 1.0
"""How long visits wait in the journal at the rate that is looked for."""
_SLOWER, _FASTER = 1.05, 0.97
_FIRST_PAUSE, _MIN_PAUSE = 4.0, 0.05
"""Milliseconds."""

_ZIPF = """
local file = io.open("{codes}", "rb")
local codes = file:read("*a")
file:close()
local heads = {{ {heads} }}
math.randomseed(os.time())
local count = #codes / 9
local number = math.random(count)
local pause = 0
request = function()
  number = number % count + 1
  if number % 200 == 0 then
    local file = io.open("{pause}", "r")
    pause = tonumber(file:read("*a")) or pause
    file:close()
  end
  return "GET /" .. codes:sub(number * 9 - 8, number * 9 - 1) .. " HTTP/1.1\\r\\nHost: "
    .. wrk.headers["Host"] .. "\\r\\nX-Forwarded-For: 10." .. math.random(0, 255) .. "."
    .. math.random(0, 255) .. "." .. math.random(1, 254) .. "\\r\\n"
    .. heads[number % #heads + 1] .. "\\r\\n"
end
delay = function() return math.floor(2 * pause * math.random() + math.random()) end
"""


class Load:
    """wrk, whose pauses are changed while it runs."""

    def __init__(self, product: Product, folder: Path, size: int) -> None:
        self._product = product
        self._pause = folder / "pause"
        self._script = folder / "zipf.lua"
        self._analytics = [name for name in product.services if to_service(name) == "analytics"]
        codes = folder / "codes"
        _write_visits(codes, size)
        text = _ZIPF.format(codes=codes, pause=self._pause, heads=lua_heads())
        self._script.write_text(text)

    def run(self, seconds: int) -> dict[str, float]:
        """Send redirects for some seconds. Returns what wrk measured."""
        url = self._product.url.replace("localhost", "127.0.0.1")
        return wrk(url, seconds, self._script, CONNECTIONS, core=None)

    def set_pause(self, milliseconds: float) -> None:
        """Set the average pause between a response and the next request of a connection."""
        following = self._pause.with_suffix(".next")
        following.write_text(f"{milliseconds:.3f}")
        following.rename(self._pause)

    def pending(self) -> float:
        """Return the number of visits in the journal."""
        return self._product.metric("atajo_visits_pending")

    def counted(self) -> float:
        """Return the number of visits that were counted."""
        return sum(
            self._product.metric(f'atajo_visits_counted_total{{kind="{kind}"}}', name)
            for name in self._analytics
            for kind in ("person", "bot")
        )

    def settle(self, pause: float, seconds: int) -> float:
        """Adjust the pause for some seconds, beginning with one. Returns the last one."""
        counted = self.counted()
        for _ in range(seconds):
            self.set_pause(pause)
            time.sleep(1.0)
            before, counted = counted, self.counted()
            waits = self.pending() > (counted - before) * _PENDING_SECONDS
            pause = max(_MIN_PAUSE, pause * (_SLOWER if waits else _FASTER))
        return pause

    def await_counted(self) -> None:
        """Wait until the journal is empty."""
        while self.pending():
            time.sleep(0.5)


def measure(product: Product, mongod: int | None, size: int, seconds: int) -> dict[str, float]:
    """Return the figures of one store and number of links. `mongod` is the pid of MongoDB."""
    load = Load(product, product.folder, size)
    analytics = [product.pid(name) for name in product.services if to_service(name) == "analytics"]
    groups = {"gateway": [product.pid("gateway")], "analytics": analytics}
    groups |= {"mongod": [mongod]} if mongod else {}
    load.set_pause(_FIRST_PAUSE)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(load.run, _WARM_SECONDS + seconds)
        pause = load.settle(_FIRST_PAUSE, _WARM_SECONDS)
        started, counted, pending = time.monotonic(), load.counted(), load.pending()
        cores = {name: sum(map(cpu_seconds, pids)) for name, pids in groups.items()}
        pause = load.settle(pause, seconds)
        counted = load.counted() - counted
        elapsed = time.monotonic() - started
        cores = {name: sum(map(cpu_seconds, pids)) - cores[name] for name, pids in groups.items()}
        pending_after = load.pending()
        latency = running.result()["p99_ms"]
    load.await_counted()
    load.set_pause(0.0)
    overload = load.run(_OVERLOAD_SECONDS)
    left = load.pending()
    load.await_counted()
    return {
        "counted_per_second": counted / elapsed,
        "p99_ms": latency,
        "pause_ms": pause,
        "pending_before": pending,
        "pending_after": pending_after,
        "overload_per_second": overload["per_second"],
        "overload_p99_ms": overload["p99_ms"],
        "overload_pending": left,
        "lost": product.metric("atajo_visits_lost_total"),
        **{f"{name}_us": 1e6 * used / counted for name, used in cores.items()},
    }


@contextmanager
def filled_product(store: str, size: int) -> Iterator[tuple[Product, int | None]]:
    """Run a product with so many links, on a new store. Also yields the pid of MongoDB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if store == "sqlite":
            fill_links(folder / "links.sqlite3", 0, size)
            with Product(folder, SETTINGS) as product:
                product.start()
                yield product, None
            return
        with server.nodes(1, "--replSet", server.SET) as (node,):
            node.start()
            url = f"{server.initiate([node.port])}atajo"
            fill_mongo.fill_links(store_of("links", url, folder), 0, size)
            with Product(folder, SETTINGS, store=url, replicas=["analytics-2"]) as product:
                product.start()
                yield product, node.pid


def _write_visits(path: Path, size: int) -> None:
    """Write the codes of visits by Zipf's law, one per line."""
    shares = np.cumsum(1 / np.arange(1, size + 1))
    drawn = np.random.default_rng(1).random(_DRAWN) * shares[-1]
    codes = [code_of(link) for link in range(size)]
    ranks = np.minimum(np.searchsorted(shares, drawn), size - 1)
    path.write_text("".join(f"{codes[rank]}\n" for rank in ranks.tolist()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--stores", nargs="+", choices=STORES, default=STORES)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    options = parser.parse_args()
    need("wrk", "taskset")
    found: dict[str, dict[str, float]] = {}
    for store in options.stores:
        for size in options.sizes:
            with filled_product(store, size) as (product, mongod):
                figures = measure(product, mongod, size, options.seconds)
            found[f"{store}, {size:,} links"] = figures
            print(f"{store}, {size:,} links")
            for name, value in figures.items():
                print(f"  {name:22}{value:12,.1f}")
    report = ROOT / "reports" / "bench-sustained.json"
    report.parent.mkdir(exist_ok=True)
    report.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
