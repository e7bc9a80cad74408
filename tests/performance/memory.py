"""Measure the memory of a local run, idle and at full load: `make bench-memory`.

Starts `python -m deploy.local` on SQLite with a million links. Full load is that of `make bench`:
hot redirects, cold redirects and creations, one after the other. Prints the sum and each process,
in MB of 1,000,000 bytes: the proportional set size (PSS), which counts a shared page once, divided
into anonymous memory and mapped files (code, and the database, which the system drops when memory
is short); and the resident set size (RSS), which counts a shared page in each process. The value
for full load is the largest PSS observed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from services.analytics.storage.sqlite.schema import MIGRATIONS as ANALYTICS
from services.auth.storage.sqlite.schema import MIGRATIONS as AUTH
from services.shared.sqlite.connection import open_migrated
from tests.performance.bench import COLD_CODES, COLD_CONNECTIONS, need, write_scripts, wrk
from tests.performance.fill import fill_links, write_codes
from tests.support.gateway_client import GatewayClient
from tests.support.ports import free_port
from tests.support.processes import PYTHON_PATH, ROOT

IDLE_SECONDS = 10.0
"""Seconds from the ready line until idle memory is measured."""


class Size(NamedTuple):
    """Memory of a process, in MB."""

    anonymous: float
    mapped: float
    resident: float


def sizes_of(pids: Mapping[str, int]) -> dict[str, Size]:
    """Memory of processes, by name."""
    return {name: _size_of(pid) for name, pid in pids.items()}


def _size_of(pid: int) -> Size:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    fields = {name: int(kb) * 1024 / 1e6 for name, kb in re.findall(r"(\w+): +(\d+) kB", rollup)}
    return Size(fields["Pss_Anon"], fields["Pss_File"] + fields["Pss_Shmem"], fields["Rss"])


def _total(sizes: Mapping[str, Size]) -> float:
    return sum(size.anonymous + size.mapped for size in sizes.values())


def _print(title: str, sizes: Mapping[str, Size]) -> None:
    rows = {**sizes, "sum": Size(*map(sum, zip(*sizes.values(), strict=True)))}
    for name, (anonymous, mapped, resident) in rows.items():
        print(
            f"{title:10}{name:12}{anonymous + mapped:8.0f}{anonymous:12.0f}{mapped:8.0f}"
            f"{resident:8.0f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10, help="of each load")
    seconds = parser.parse_args().seconds
    need("wrk", "taskset")
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        data = folder / "data"
        data.mkdir(mode=0o700)
        write_codes(folder / "codes", COLD_CODES)
        scripts = write_scripts(folder, folder / "codes")
        fill_links(data / "links.sqlite3", 0, COLD_CODES)
        for name, migrations in (("auth", AUTH), ("analytics", ANALYTICS)):
            open_migrated(data / f"{name}.sqlite3", migrations).close()
        env = {**os.environ, "ATAJO_PORT": str(port), "ATAJO_DATA_DIR": str(data)}
        env |= {"ATAJO_LIMITS": "off", "PYTHONPATH": PYTHON_PATH}
        run = subprocess.Popen(
            [sys.executable, "-m", "deploy.local"], cwd=ROOT, env=env, stdout=subprocess.PIPE
        )
        try:
            assert run.stdout
            assert run.stdout.readline(), "It did not start."
            time.sleep(IDLE_SECONDS)
            state = json.loads((data / "run.json").read_text())
            pids = {name: each["pid"] for name, each in state["processes"].items()}
            pids["supervisor"] = run.pid
            print(f"{'':22}{'PSS':>8}{'anonymous':>12}{'mapped':>8}{'RSS':>8}")
            _print("idle", sizes_of(pids))
            with GatewayClient(f"http://127.0.0.1:{port}") as client:
                hot = f"{client.url}/{client.shorten('https://example.com/')}"
            peak = sizes_of(pids)
            with ThreadPoolExecutor(1) as pool:
                for load in (
                    lambda: wrk(hot, seconds),
                    lambda: wrk(client.url, seconds, scripts["cold"], COLD_CONNECTIONS),
                    lambda: wrk(client.url, seconds, scripts["create"]),
                ):
                    loading = pool.submit(load)
                    while not loading.done():
                        time.sleep(0.5)
                        peak = max(peak, sizes_of(pids), key=_total)
                    loading.result()
            _print("full load", peak)
        finally:
            run.send_signal(signal.SIGTERM)
            run.wait()


if __name__ == "__main__":
    main()
