"""How fast Atajo is beside nginx answering a constant 302, in the same run: `make bench`.

Server and load generator have a core each. Every round measures nginx and then Atajo; the table
tells the median of the rounds. Prints a table and writes `reports/bench.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.processes import ROOT
from tests.product import BROWSER, SERVICES, Product, free_port

SERVER_CORE, LOAD_CORE = 0, 1
CONNECTIONS = 32

_NGINX = """
worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.err;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{ listen 127.0.0.1:{port}; location / {{ return 302 https://example.com/; }} }}
}}
"""
_CREATE = """
math.randomseed(os.time())
local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
request = function()
  local code = {}
  for i = 1, 8 do local n = math.random(64); code[i] = alphabet:sub(n, n) end
  return wrk.format(nil, "/createShortLink", nil,
    '{"data":{"code":"' .. table.concat(code) .. '","url":"https://example.com/a/b","token":null}}')
end
"""


def wrk(url: str, seconds: int, script: Path | None = None) -> dict[str, float]:
    """Requests a second, latency in milliseconds, and answers that were no success."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}", "--latency"]
    command += ["-H", f"User-Agent: {BROWSER}"]
    command += ["-s", str(script)] if script else []
    output = subprocess.run(
        ["taskset", "-c", str(LOAD_CORE), *command, url], check=True, capture_output=True, text=True
    ).stdout
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    per_second = re.search(r"Requests/sec:\s+([\d.]+)", output)
    requests = re.search(r"(\d+) requests in", output)
    assert per_second
    assert requests
    return {
        "per_second": float(per_second[1]),
        "requests": float(requests[1]),
        "p99_ms": _milliseconds(output),
        "failed": float(failed[1]) if failed else 0.0,
    }


def _milliseconds(output: str) -> float:
    found = re.search(r"99%\s+([\d.]+)(us|ms|s)\b", output)
    assert found
    return float(found[1]) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[found[2]]


@contextmanager
def nginx(folder: Path) -> Iterator[str]:
    """Debian's nginx, one worker on the server's core, answering 302 to everything."""
    port = free_port()
    config = folder / "nginx.conf"
    config.write_text(_NGINX.format(folder=folder, port=port))
    process = subprocess.Popen(
        ["taskset", "-c", str(SERVER_CORE), "nginx", "-c", str(config), "-e", "stderr"]
    )
    try:
        deadline = time.monotonic() + 10
        while not (folder / "nginx.pid").exists():
            assert time.monotonic() < deadline
            assert process.poll() is None
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait()


def pin(pid: int, core: int) -> None:
    """Keep a process, all its threads, on one core."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), {core})


def memory_megabytes(pid: int) -> float:
    """Resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found
    return int(found[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    missing = [tool for tool in ("wrk", "nginx", "taskset") if not shutil.which(tool)]
    if missing:
        raise SystemExit(
            f"Missing: {', '.join(missing)}. On Debian: apt-get install wrk nginx-light"
        )

    rows: dict[str, list[dict[str, float]]] = {"nginx 302": [], "hot redirect": [], "creation": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "create.lua"
        script.write_text(_CREATE)
        product = Product(folder, {"ATAJO_LIMITS": "off", "ATAJO_LOG_LEVEL": "warning"})
        with product, nginx(folder) as peer:
            product.start()
            pin(product.pid("gateway"), SERVER_CORE)
            for service in SERVICES:
                pin(product.pid(service), LOAD_CORE)
            token = product.log_in(product.register())
            code = product.shorten("https://example.com/", token)
            url = product.url.replace("localhost", "127.0.0.1")
            for _ in range(options.rounds):
                rows["nginx 302"].append(wrk(peer, options.seconds))
                rows["hot redirect"].append(wrk(f"{url}/{code}", options.seconds))
                rows["creation"].append(wrk(url, options.seconds, script))
            answered = sum(row["requests"] for row in rows["hot redirect"])
            deadline = time.monotonic() + 30
            # wrk leaves with answers on the way: those visits count too.
            while (views := product.views(token)[code]) < answered:
                assert time.monotonic() < deadline, f"{views} of {answered} visits counted"
            memory = {name: memory_megabytes(product.pid(name)) for name in (*SERVICES, "gateway")}

    medians = {
        name: {key: statistics.median(row[key] for row in runs) for key in runs[0]}
        for name, runs in rows.items()
    }
    base = medians["nginx 302"]["per_second"]
    print(f"{'':14}{'per second':>12}{'of nginx':>10}{'p99 ms':>10}{'failed':>8}")
    for name, row in medians.items():
        ratio = row["per_second"] / base
        print(
            f"{name:14}{row['per_second']:12,.0f}{ratio:10.2f}{row['p99_ms']:10.2f}"
            f"{row['failed']:8.0f}"
        )
    print(f"views {views:,} of {answered:,.0f} answered, at most {CONNECTIONS} a round on the way")
    print("memory, MB: " + ", ".join(f"{name} {size:.0f}" for name, size in memory.items()))
    report = ROOT / "reports" / "bench.json"
    report.parent.mkdir(exist_ok=True)
    report.write_text(
        json.dumps(
            {"medians": medians, "rounds": rows, "views": views, "memory_megabytes": memory},
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
