"""Compares Atajo with nginx answering a constant 302, in the same run: `make bench`.

Gateway and load generator have a core each; the services share the generator's. Every round
measures nginx and then Atajo; the table shows the median of the rounds. Between two loads the
benchmark waits until remaining work, such as counting visits, is done. Requests have a browser's
headers; those "with queries" have the headers of ten browsers in turn, and every tenth has a query,
as networks and newsletters append it (`clicks.json`). Redirects through nginx use the web image's
nginx on the gateway's core, as in a cluster. Cold redirects are of codes drawn from a million, of
which the gateway caches a tenth. At half load, clients pause 1 to 3 ms between a response and the
next request, and their number results in half of the hot redirects; the time is that from a request
to its response. Prints a table and writes `reports/bench.json`.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.performance.fill import fill_links, write_codes
from tests.support.gateway_client import BROWSER
from tests.support.nginx import Nginx
from tests.support.ports import free_port
from tests.support.processes import ROOT
from tests.support.procfs import read, threads_of
from tests.support.product import PROCESSES, SERVICES, Product

SERVER_CORE, LOAD_CORE = 0, 1
CONNECTIONS = 32
COLD_CONNECTIONS = 128
COLD_CODES = 1_000_000
THINKING = 0.002
"""Average seconds between a response and the next request at half load."""
_LOOK_SECONDS = 3.0
"""Longer than the two seconds after which view counts are copied."""
_QUIET_SHARE = 0.1
"""Of a core, all processes together."""
_MAX_CHECKS = 40

BROWSER_HEADERS = {
    "User-Agent": BROWSER,
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,"
    "*/*;q=0.8",
    "Accept-Language": "es-ES,es;q=0.9,en;q=0.7",
    "Accept-Encoding": "gzip, deflate, br, zstd",
    "Referer": "https://news.example.com/",
}
"""A browser's headers on a click on a link, without the newer Sec-Fetch headers."""

_CLICKS = json.loads(Path(__file__).with_name("clicks.json").read_text(encoding="utf-8"))

GOALS = {
    "hot redirect": "at least 0.35 of nginx",
    "hot with queries": "at least 0.35 of nginx with queries",
    "cold redirect": "at least 8,000 a second",
    "creation": "at least 500 a second",
    "half load": "p99 under 5 ms",
    "memory": "under 1,500 MB",
}

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
_COLD = """
math.randomseed(os.time())
local file = io.open("{codes}", "rb")
local codes = file:read("*a")
file:close()
local count = #codes / 9
request = function()
  local at = (math.random(count) - 1) * 9
  return wrk.format(nil, "/" .. codes:sub(at + 1, at + 8))
end
"""
_MIX = """
local heads = {{ {heads} }}
local queries = {{ {queries} }}
local requests = {{}}
local number = 0
init = function()
  for i = 0, 10 * #queries - 1 do
    local query = i % 10 == 1 and queries[(i - 1) / 10 + 1] or ""
    requests[i] = "GET " .. wrk.path .. query .. " HTTP/1.1\\r\\nHost: " .. wrk.headers["Host"]
      .. "\\r\\n" .. heads[i % #heads + 1] .. "\\r\\n"
  end
end
request = function()
  number = (number + 1) % (10 * #queries)
  return requests[number]
end
"""
_THINK = """
math.randomseed(os.time())
delay = function() return math.random(1, 3) end
"""


def wrk(
    url: str,
    seconds: int,
    script: Path | None = None,
    connections: int = CONNECTIONS,
    core: int | None = LOAD_CORE,
) -> dict[str, float]:
    """Requests a second, latency in milliseconds, and unsuccessful responses.

    wrk runs on one core, or on any for None.
    """
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--latency"]
    for name, value in BROWSER_HEADERS.items():
        command += ["-H", f"{name}: {value}"]
    command += ["-s", str(script)] if script else []
    pinned = [] if core is None else ["taskset", "-c", str(core)]
    output = subprocess.run(
        [*pinned, *command, url], check=True, capture_output=True, text=True
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
def nginx(folder: Path, core: int | None = SERVER_CORE) -> Iterator[str]:
    """Debian's nginx, one worker, answering 302 to everything. It runs on any core for None."""
    port = free_port()
    config = folder / "nginx.conf"
    config.write_text(_NGINX.format(folder=folder, port=port))
    pinned = [] if core is None else ["taskset", "-c", str(core)]
    process = subprocess.Popen([*pinned, "nginx", "-c", str(config), "-e", "stderr"])
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
    """Pin all threads of a process to one core."""
    for thread in threads_of(pid):
        with suppress(ProcessLookupError):
            os.sched_setaffinity(thread, {core})


def memory_megabytes(pid: int) -> float:
    """Resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found
    return int(found[1]) / 1024


def cpu_seconds(pid: int) -> float:
    """CPU seconds of the threads of a process that still exist."""
    tasks = (read(Path(f"/proc/{pid}/task/{thread}/schedstat")) for thread in threads_of(pid))
    return sum(int(task.split()[0]) for task in tasks if task) / 1e9


def settle(pids: Sequence[int]) -> None:
    """Wait until processes have finished their work, such as counting visits."""
    for _ in range(_MAX_CHECKS):
        before = sum(map(cpu_seconds, pids))
        time.sleep(_LOOK_SECONDS)
        if sum(map(cpu_seconds, pids)) - before < _QUIET_SHARE * _LOOK_SECONDS:
            return
    raise SystemExit(f"Not quiet within {_MAX_CHECKS * _LOOK_SECONDS:g} s.")


def need(*tools: str) -> None:
    """Raises SystemExit with one line when a tool is missing."""
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        raise SystemExit(
            f"Missing: {', '.join(missing)}. On Debian: apt-get install wrk nginx-light util-linux"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    need("wrk", "nginx", "taskset")

    visits = ("hot redirect", "hot with queries", "through nginx", "half load")
    names = ("nginx 302", "nginx with queries", *visits, "cold redirect", "creation")
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        codes = folder / "codes"
        write_codes(codes, COLD_CODES)
        scripts = write_scripts(folder, codes)
        fill_links(folder / "links.sqlite3", 0, COLD_CODES)
        product = Product(folder, {"ATAJO_LIMITS": "off", "ATAJO_LOG_LEVEL": "warning"})
        front = Nginx(folder, product.address("gateway"), product.url)
        with product, nginx(folder) as peer:
            product.start()
            pin(product.pid("gateway"), SERVER_CORE)
            for service in SERVICES:
                pin(product.pid(service), LOAD_CORE)
            token = product.log_in(product.register())
            code = product.shorten("https://example.com/", token)
            url = product.url.replace("localhost", "127.0.0.1")
            pids = [product.pid(name) for name in PROCESSES]
            for _ in range(options.rounds):
                settle(pids)
                rows["nginx 302"].append(wrk(peer, options.seconds))
                hot = wrk(f"{url}/{code}", options.seconds)
                rows["hot redirect"].append(hot)
                rows["nginx with queries"].append(wrk(peer, options.seconds, scripts["mix"]))
                rows["hot with queries"].append(
                    wrk(f"{url}/{code}", options.seconds, scripts["mix"])
                )
                with front:
                    for pid in front.pids():
                        pin(pid, SERVER_CORE)
                    rows["through nginx"].append(wrk(f"{front.url}/{code}", options.seconds))
                visitors = max(1, round(hot["per_second"] / 2 * THINKING))
                rows["half load"].append(
                    wrk(f"{url}/{code}", options.seconds, scripts["think"], visitors)
                )
                settle(pids)
                rows["cold redirect"].append(
                    wrk(url, options.seconds, scripts["cold"], COLD_CONNECTIONS)
                )
                settle(pids)
                rows["creation"].append(wrk(url, options.seconds, scripts["create"]))
            answered = sum(row["requests"] for name in visits for row in rows[name])
            deadline = time.monotonic() + 60
            # wrk exits with responses in transit: those visits count, too.
            while (views := product.views(token)[code]) < answered:
                assert time.monotonic() < deadline, f"{views} of {answered} visits counted"
                time.sleep(0.1)
            memory = {name: memory_megabytes(product.pid(name)) for name in (*SERVICES, "gateway")}
    _report(rows, memory, views, answered)


def write_scripts(folder: Path, codes: Path) -> dict[str, Path]:
    """wrk's scripts by name. Cold redirects use the codes in a file, one per line."""
    heads = ["".join(f"{n}: {v}\r\n" for n, v in each.items()) for each in _CLICKS["browsers"]]
    mix = _MIX.format(heads=_lua(heads), queries=_lua(_CLICKS["queries"]))
    texts = {"create": _CREATE, "cold": _COLD.format(codes=codes), "think": _THINK, "mix": mix}
    scripts = {name: folder / f"{name}.lua" for name in texts}
    for name, text in texts.items():
        scripts[name].write_text(text)
    return scripts


def _lua(texts: list[str]) -> str:
    """Return the items of a Lua table of strings. Its escapes are those of JSON."""
    return ", ".join(map(json.dumps, texts))


def _report(
    rows: dict[str, list[dict[str, float]]], memory: dict[str, float], views: int, answered: float
) -> None:
    medians = {
        name: {key: statistics.median(row[key] for row in runs) for key in runs[0]}
        for name, runs in rows.items()
    }
    print(f"{'':18}{'per second':>12}{'of nginx':>10}{'p99 ms':>10}{'failed':>8}  goal")
    for name, row in medians.items():
        peer = "nginx with queries" if name.endswith("with queries") else "nginx 302"
        ratio = row["per_second"] / medians[peer]["per_second"]
        print(
            f"{name:18}{row['per_second']:12,.0f}{ratio:10.2f}{row['p99_ms']:10.2f}"
            f"{row['failed']:8.0f}  {GOALS.get(name, '')}"
        )
    print(
        f"{'memory, MB':18}{sum(memory.values()):12,.0f}{'':28}  {GOALS['memory']}: "
        + ", ".join(f"{name} {size:.0f}" for name, size in memory.items())
    )
    print(f"views {views:,} of {answered:,.0f} answered, those on the way at a round's end beside")
    report = ROOT / "reports" / "bench.json"
    report.parent.mkdir(exist_ok=True)
    report.write_text(
        json.dumps(
            {
                "medians": medians,
                "rounds": rows,
                "views": views,
                "memory_megabytes": memory,
                "goals": GOALS,
            },
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
