"""Measures an import of 100,000 rows and redirects meanwhile: `make bench-import`.

All processes, the importing client and the load generator share the machine's cores; with more than
two, they are restricted to two. On each store the client sends the rows in calls of 200, one after
the other, as the page does: first checkImport for all, in calls of 500, then importLinks, then
undoImport. Visitors follow 100 cached links throughout, each with a pause of 10 to 30 ms after a
response. Prints the times and the 99th percentile of the redirects, before and during the import,
and writes reports/bench-import.json.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tests.performance.bench import cpu_seconds, need, settle, wrk
from tests.support.gateway_client import new_code
from tests.support.mongo import server
from tests.support.processes import ROOT
from tests.support.product import PROCESSES, Product

ROWS = 100_000
ROWS_PER_CHECK = 500
ROWS_PER_CALL = 200
VISITORS = 16
CODES = 100
_CORES = 2
_BASELINE_SECONDS = 10
_SLICE_SECONDS = 5
"""Length of one run of the load generator during the import. The slowest one counts."""
_STORES = ("sqlite", "mongodb")
GOALS = {"import": "at most 120 s", "redirects during the import": "p99 at most 20 ms"}

_VISIT = """
math.randomseed(os.time())
local codes = {{ {codes} }}
request = function() return wrk.format(nil, "/" .. codes[math.random(#codes)]) end
delay = function() return math.random(10, 30) end
"""


class Visitors:
    """Follows links in a thread while a block runs, in slices of `_SLICE_SECONDS`."""

    def __init__(self, url: str, script: Path) -> None:
        self._url = url
        self._script = script
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.slices: list[dict[str, float]] = []

    def __enter__(self) -> Visitors:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self.slices.append(visit(self._url, _SLICE_SECONDS, self._script))


def visit(url: str, seconds: int, script: Path) -> dict[str, float]:
    result = wrk(url, seconds, script, VISITORS, core=None)
    assert not result["failed"], result
    return result


def rows_of(count: int) -> list[dict[str, Any]]:
    """Return rows as a page sends them, with all fields."""
    return [
        {
            "row": number,
            "code": new_code(),
            "url": f"https://www.site{number % 5000}.example/articles/{number}?source=old-host",
            "title": f"Article {number}",
            "tags": ["articles", f"year {2010 + number % 15}"],
            "created_at": f"{2010 + number % 15}-03-04T05:06:07Z",
            "expires_at": None,
        }
        for number in range(count)
    ]


def check(product: Product, token: str, rows: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(rows), ROWS_PER_CHECK):
        some = [
            {name: row[name] for name in ("row", "code", "url")}
            for row in rows[start : start + ROWS_PER_CHECK]
        ]
        verdicts = product.data("checkImport", {"token": token, "rows": some})["verdicts"]
        assert all(one["verdict"] == "new" for one in verdicts)


def import_all(
    product: Product, token: str, import_id: str, rows: Sequence[dict[str, Any]]
) -> None:
    for start in range(0, len(rows), ROWS_PER_CALL):
        some = rows[start : start + ROWS_PER_CALL]
        call = {"token": token, "import_id": import_id, "rows": some}
        results = product.data("importLinks", call)["results"]
        assert all(one["verdict"] == "new" for one in results)


def undo(product: Product, token: str, import_id: str, count: int) -> None:
    """Undo an import, in as many calls as it takes."""
    body = {"data": {"token": token, "import_id": import_id}}
    while True:
        response = product.http.post(f"{product.url}/undoImport", json=body, timeout=75)
        if response.status_code == 200:
            assert response.json()["data"] == {"success": True, "removed": count}
            return
        assert response.status_code == 504, response.text


def measure(store: str, count: int) -> dict[str, Any]:
    """Return the seconds and CPU seconds of each step, and the redirects before and meanwhile."""
    with tempfile.TemporaryDirectory() as name, _setting(store) as setting:
        folder = Path(name)
        with Product(folder, {"ATAJO_LOG_LEVEL": "warning"}, store=setting) as product:
            product.start()
            token = product.log_in(product.register())
            codes = [product.shorten(f"https://example.com/{n}") for n in range(CODES)]
            script = folder / "visit.lua"
            script.write_text(_VISIT.format(codes=", ".join(f'"{code}"' for code in codes)))
            url = product.url.replace("localhost", "127.0.0.1")
            pids = [product.pid(process) for process in PROCESSES]
            rows, import_id = rows_of(count), secrets.token_urlsafe(16)
            settle(pids)
            report: dict[str, Any] = {
                "rows": count,
                "redirects before": visit(url, _BASELINE_SECONDS, script),
            }
            steps: dict[str, Callable[[], None]] = {
                "check": lambda: check(product, token, rows),
                "import": lambda: import_all(product, token, import_id, rows),
                "undo": lambda: undo(product, token, import_id, count),
            }
            for step, run in steps.items():
                started, cpu = time.monotonic(), sum(map(cpu_seconds, pids))
                with Visitors(url, script) as visitors:
                    run()
                    seconds = time.monotonic() - started
                report[step] = {
                    "seconds": seconds,
                    "cpu_seconds": sum(map(cpu_seconds, pids)) - cpu,
                    "redirects": visitors.slices,
                }
    return report


@contextmanager
def _setting(store: str) -> Iterator[str]:
    """Yield what a `Product` takes for a store."""
    with nullcontext("") if store == "sqlite" else server.running() as url:
        if not url:
            yield ""
            return
        with server.database(url) as database:
            yield database


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--store", choices=_STORES, action="append")
    options = parser.parse_args()
    need("wrk")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    reports = {store: measure(store, options.rows) for store in options.store or _STORES}
    for store, report in reports.items():
        _print(store, report)
    path = ROOT / "reports" / "bench-import.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"stores": reports, "goals": GOALS}, indent=2))


def _print(store: str, report: dict[str, Any]) -> None:
    print(f"{store}: {report['rows']:,} rows")
    print(f"{'':8}{'seconds':>9}{'rows/s':>9}{'CPU s':>8}{'redirects/s':>13}{'worst p99 ms':>14}")
    before = report["redirects before"]
    print(f"{'before':8}{'':26}{before['per_second']:13,.0f}{before['p99_ms']:14.1f}")
    for step in ("check", "import", "undo"):
        measured = report[step]
        seconds, slices = measured["seconds"], measured["redirects"]
        per_second = sum(one["per_second"] for one in slices) / len(slices)
        print(
            f"{step:8}{seconds:9.1f}{report['rows'] / seconds:9,.0f}{measured['cpu_seconds']:8.1f}"
            f"{per_second:13,.0f}{max(one['p99_ms'] for one in slices):14.1f}"
        )
    print(f"goals: import {GOALS['import']}; {GOALS['redirects during the import']}")


if __name__ == "__main__":
    main()
