"""Compares Atajo with nginx answering a constant 302, in the same run: `make bench`.

Gateway and load generator have a core each; the services share the generator's. Every round
measures nginx and then Atajo; the table shows the median of the rounds. Between two loads the
benchmark waits until remaining work, such as counting visits, is done.

- Hot redirects, those through nginx, and those at half load are requested by `visitors.py`: heads
  of 13 browsers, a tenth with a query, and half of the visitors with a connection for each request.
  So is nginx's 302. "Through nginx" has the web image's nginx on the gateway's core, as in a
  cluster. At half load, 32 visitors pause so long that they send half as many requests.
- Those "kept" are requested by wrk with the same heads and queries, on kept connections only.
- Cold redirects are of codes drawn from a million, of which the gateway caches a tenth.

"Of nginx" compares the CPU time of a request on the server's core, of gateway and nginx together.
The generator of visitors does not fill nginx's core, so a comparison of throughput would flatter
Atajo. Prints a table and writes `reports/bench.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import cast

from tests.performance.fill import fill_links, write_codes
from tests.support.gateway_client import BROWSER
from tests.support.nginx import Nginx
from tests.support.ports import free_port
from tests.support.processes import ROOT
from tests.support.procfs import children_of, read, threads_of
from tests.support.product import PROCESSES, SERVICES, Product

SERVER_CORE, LOAD_CORE = 0, 1
CONNECTIONS = 32
COLD_CONNECTIONS = 128
COLD_CODES = 1_000_000
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
    "hot, kept": "at least 0.35 of nginx, kept",
    "cold redirect": "at least 8,000 a second",
    "creation": "at least 500 a second",
    "half load": "p99 under 5 ms",
    "memory": "under 1,500 MB",
}
_PEERS = {
    **dict.fromkeys(("nginx 302", "hot redirect", "through nginx", "half load"), "nginx 302"),
    **dict.fromkeys(("nginx, kept", "hot, kept"), "nginx, kept"),
}
"""The row with nginx in the same load, by row."""

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
_DONE = """
done = function(summary, latency)
  io.write(string.format("99.9%% %fms\\n", latency:percentile(99.9) / 1000))
end
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
        "p99_ms": _milliseconds(output, "99%"),
        **({"p999_ms": _milliseconds(output, "99.9%")} if "99.9%" in output else {}),
        "failed": float(failed[1]) if failed else 0.0,
    }


def visit(url: str, seconds: int, pause: float = 0.0) -> dict[str, float]:
    """Requests a second, latency in milliseconds, and unsuccessful responses, of `visitors.py`.

    `pause` is the average time of a visitor between a response and the next request, in ms.
    """
    module = [sys.executable, "-m", "tests.performance.visitors"]
    command = ["taskset", "-c", str(LOAD_CORE), *module]
    output = subprocess.run(
        [*command, url, str(seconds), str(CONNECTIONS), str(pause)],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout
    return cast(dict[str, float], json.loads(output))


def costing(load: Callable[[], dict[str, float]], pids: Iterable[int]) -> dict[str, float]:
    """Return the result of a load, with the CPU time of processes in microseconds a request."""
    before = sum(map(cpu_seconds, pids))
    row = load()
    return row | {"cpu_us": (sum(map(cpu_seconds, pids)) - before) / row["requests"] * 1e6}


def _milliseconds(output: str, percentile: str) -> float:
    found = re.search(rf"\s{re.escape(percentile)}\s+([\d.]+)(us|ms|s)\b", output)
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

    visits = ("hot redirect", "hot, kept", "through nginx", "half load")
    names = ("nginx 302", "nginx, kept", *visits, "cold redirect", "creation")
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    seconds = options.seconds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        codes = folder / "codes"
        write_codes(codes, COLD_CODES)
        scripts = write_scripts(folder, codes)
        fill_links(folder / "links.sqlite3", 0, COLD_CODES)
        product = Product(folder, {"ATAJO_LIMITS": "off", "ATAJO_LOG_LEVEL": "warning"})
        front = Nginx(folder, product.address("gateway"), product.url)
        with product, nginx(folder) as peer:
            peer_pids = children_of(int((folder / "nginx.pid").read_text()))
            product.start()
            pin(product.pid("gateway"), SERVER_CORE)
            for service in SERVICES:
                pin(product.pid(service), LOAD_CORE)
            token = product.log_in(product.register())
            code = product.shorten("https://example.com/", token)
            url = product.url.replace("localhost", "127.0.0.1")
            pids = [product.pid(name) for name in PROCESSES]
            gateway = [product.pid("gateway")]
            link = f"{url}/{code}"

            def measure(
                name: str, load: Callable[[], dict[str, float]], servers: Sequence[int] = gateway
            ) -> dict[str, float]:
                rows[name].append(costing(load, servers))
                return rows[name][-1]

            for _ in range(options.rounds):
                settle(pids)
                measure("nginx 302", partial(visit, peer, seconds), peer_pids)
                hot = measure("hot redirect", partial(visit, link, seconds))
                measure("nginx, kept", partial(wrk, peer, seconds, scripts["mix"]), peer_pids)
                measure("hot, kept", partial(wrk, link, seconds, scripts["mix"]))
                with front:
                    for pid in front.pids():
                        pin(pid, SERVER_CORE)
                    through = partial(visit, f"{front.url}/{code}", seconds)
                    measure("through nginx", through, [*front.pids(), *gateway])
                pause = 1000 * CONNECTIONS * 2 / hot["per_second"]
                measure("half load", partial(visit, link, seconds, pause))
                settle(pids)
                cold = partial(wrk, url, seconds, scripts["cold"], COLD_CONNECTIONS)
                measure("cold redirect", cold)
                settle(pids)
                measure("creation", partial(wrk, url, seconds, scripts["create"]))
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
    mix = _MIX.format(heads=lua_heads(), queries=_lua(_CLICKS["queries"]))
    texts = {"create": _CREATE, "cold": _COLD.format(codes=codes), "mix": mix}
    scripts = {name: folder / f"{name}.lua" for name in texts}
    for name, text in texts.items():
        scripts[name].write_text(text + _DONE)
    return scripts


def lua_heads() -> str:
    """Return the headers of thirteen browsers as the items of a Lua table."""
    return _lua(["".join(f"{n}: {v}\r\n" for n, v in each.items()) for each in _CLICKS["browsers"]])


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
    columns = ("per second", "CPU us", "of nginx", "p99 ms", "p99.9 ms", "failed")
    print(f"{'':18}" + "".join(f"{column:>12}" for column in columns) + "  goal")
    for name, row in medians.items():
        peer = _PEERS.get(name)
        ratio = f"{medians[peer]['cpu_us'] / row['cpu_us']:.2f}" if peer else ""
        print(
            f"{name:18}{row['per_second']:12,.0f}{row['cpu_us']:12.1f}{ratio:>12}"
            f"{row['p99_ms']:12.2f}{row['p999_ms']:12.2f}{row['failed']:12.0f}"
            f"  {GOALS.get(name, '')}"
        )
    print(
        f"{'memory, MB':18}{sum(memory.values()):12,.0f}{'':60}  {GOALS['memory']}: "
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
