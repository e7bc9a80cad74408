"""Measures the cost of a blocklist of a million hosts: `make bench-blocklists`.

One links process on SQLite with an empty list folder receives creations, one at a time with pauses,
as on a quiet day: first without a list, then alternately while a list of a million hosts is read
and while none is, then while it is in use. Prints the latency and CPU time of a creation, the time
to read the list, and the resident memory of the process and its reader. Writes
`reports/bench-blocklists.json`. Consecutive turns form a pair, so that other load affects both.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from services.shared.rpc import channels, client
from tests.support.gateway_client import new_code
from tests.support.processes import ROOT, Process
from tests.support.procfs import read, threads_of

HOSTS = 1_000_000
CREATIONS = 2_000
"""Minimum creations per figure."""
PAUSE = 0.002
TURNS = 4
"""How often a list is read."""
TAKEN_UP = 0.5
"""Seconds after a reader's end that count, because the process loads what was read."""
_SERVICE = pb.DESCRIPTOR.services_by_name["LinksService"]


class Bench:
    """A links process, and the load on it."""

    def __init__(self, process: Process, stub: pb_grpc.LinksServiceAsyncStub) -> None:
        self._process = process
        self._caller = client.Caller(_SERVICE)
        self._stub = stub
        self._number = 0
        self.read: list[float] = []
        """Seconds that each reader ran."""
        self.reader_peak = 0
        self._is_reading = False

    async def creations(self) -> dict[str, float]:
        """Latencies in milliseconds of `CREATIONS` creations while no list is read."""
        return await self._creations(lambda taken: len(taken) >= CREATIONS, reading=False)

    async def creations_while_read(self) -> dict[str, float]:
        """The same of creations while the next list is read."""
        lists = len(self.read)
        return await self._creations(lambda _: len(self.read) > lists, reading=True)

    async def _creations(
        self, over: Callable[[Sequence[float]], bool], *, reading: bool
    ) -> dict[str, float]:
        taken: list[float] = []
        computed = 0.0
        watching = asyncio.create_task(self._watch())
        while not over(taken):
            self._number += 1
            url = f"https://www{self._number}.innocent.example/path"
            request = pb.CreateLinkRequest(code=new_code(), url=url)
            began, had_computed = time.perf_counter(), self._computed()
            await self._caller.unary("CreateLink", self._stub.CreateLink, request, 20)
            took = time.perf_counter() - began
            await asyncio.sleep(PAUSE)
            if self._is_reading == reading:
                taken.append(1000 * took)
                computed += 1000 * (self._computed() - had_computed)
        watching.cancel()
        cuts = statistics.quantiles(taken, n=100)
        return {
            "p50": cuts[49],
            "p99": cuts[98],
            "most": max(taken),
            "cpu": computed / len(taken),
            "of": len(taken),
        }

    async def _watch(self) -> None:
        """Look for readers even if there are none, so that its cost is in every figure."""
        began = ended = 0.0
        while True:
            readers, now = self._readers(), time.monotonic()
            if readers:
                began, ended = began or now, now
            elif began and now - ended >= TAKEN_UP:
                self.read.append(ended - began)
                began = 0.0
            self._is_reading = bool(began)
            self.reader_peak = max([self.reader_peak, *map(_resident, readers)])
            await asyncio.sleep(0.05)

    def _computed(self) -> float:
        """CPU seconds of the process so far, without its readers."""
        fields = (
            Path(f"/proc/{self._process.popen.pid}/stat").read_text().rpartition(")")[2].split()
        )
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> int:
        """Resident bytes of the process."""
        return _resident(self._process.popen.pid)

    def metric(self, series: str) -> float:
        text = httpx.get(f"http://{self._process.addresses['metrics']}/metrics").text
        return sum(float(li.split()[-1]) for li in text.splitlines() if li.startswith(series + " "))

    def _readers(self) -> list[int]:
        # Cheaper than `children_of`, whose cost would show in the latencies.
        pid = self._process.popen.pid
        tasks = (Path(f"/proc/{pid}/task/{thread}/children") for thread in threads_of(pid))
        return [int(child) for task in tasks for child in read(task).split()]


def _resident(pid: int) -> int:
    status = read(Path(f"/proc/{pid}/status"))
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    return 1024 * int(found[0]) if found else 0


async def _measure(folder: Path) -> dict[str, object]:
    lists = folder / "lists"
    lists.mkdir()
    for turn in range(TURNS):  # Before all figures: it takes CPU time.
        hosts = (f"host{number:07}-{turn}.phish.example\n" for number in range(HOSTS))
        (lists / f".{turn}").write_text("".join(hosts))
    settings = {
        "ATAJO_STORE": f"sqlite:///{folder}/links.sqlite3",
        "ATAJO_PUBLIC_URL": "https://atajo.example",
        "ATAJO_ADMIN_LISTEN": "127.0.0.1:0",
        "ATAJO_METRICS_LISTEN": "127.0.0.1:0",
        "ATAJO_BLOCKLIST_DIR": str(lists),
    }
    with Process.start("services.links", settings, folder / "log") as process:
        async with channels.open_channel(process.grpc, _SERVICE) as channel:
            bench = Bench(process, pb_grpc.LinksServiceStub(channel))
            await bench.creations()  # From here on caches and files are warm.
            without = await bench.creations()
            before = bench.resident()

            calm, while_read = [without], []
            for turn in range(TURNS):
                (lists / f".{turn}").rename(lists / "phishing.txt")
                while_read.append(await bench.creations_while_read())
                calm.append(await bench.creations())
            after = bench.resident()
            # The creations before and after a turn differ by one list.
            more = {
                figure: statistics.median(
                    turn[figure] - (calm[number][figure] + calm[number + 1][figure]) / 2
                    for number, turn in enumerate(while_read)
                )
                for figure in ("p50", "p99", "cpu")
            }
            return {
                "hosts": bench.metric('atajo_blocklist_entries{list="phishing.txt"}'),
                "creation, ms": {
                    "without a list": without,
                    "while it is read": while_read,
                    "with the list": calm[1:],
                },
                "more while it is read, ms": more,
                "reading, s": bench.read,
                "more resident, MB": (after - before) / 1e6,
                "reader at its peak, MB": bench.reader_peak / 1e6,
            }


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="atajo-bench-") as folder:
        fields = json.dumps(asyncio.run(_measure(Path(folder))), indent=2)
    print(fields)
    report = ROOT / "reports" / "bench-blocklists.json"
    report.parent.mkdir(exist_ok=True)
    report.write_text(fields + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
