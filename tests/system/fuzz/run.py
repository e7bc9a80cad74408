"""A seeded fuzzer of a running product: `make fuzz`, or `FOR=300 SEED=7 make fuzz`.

FOR is in seconds; without it the fuzzing continues until Ctrl-C. The public port receives HTTP, the
services' ports gRPC, and both receive neither. No response may be a 5xx or incomplete, no call may
end with an internal error, and no process may exit. At the end visits are counted once each, no log
reports a bug, and memory use is back to normal.

A defect is reported with its CASE: `SEED=7 CASE=public:17 make fuzz` sends that one again.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import TracebackType

from atajo.analytics.v1 import analytics_pb2
from atajo.auth.v1 import auth_pb2
from atajo.links.v1 import links_pb2
from tests.support.product import PROCESSES, Product
from tests.support.thread_group import ThreadGroup
from tests.support.waiting import RECOVERY_SECONDS, wait_until
from tests.system.fuzz.http_cases import KNOWN_CODES
from tests.system.fuzz.targets import DefectError, InnerPort, PublicPort

PUBLIC_WORKERS = 4
"""Threads for the public port. The other ports have one each."""
SETTLED_SHARE = 0.3
SETTLED_SECONDS = 30.0
"""Share of the time, or seconds, during which the maximum memory counts as normal: caches fill, and
batches of 20,000 visits take up to 30 MB each."""
GROWTH_MEGABYTES = {"gateway": 30, "reconciler": 30, "auth": 72, "links": 72, "analytics": 72}
"""Allowed growth of resident memory from then on. For services it is SQLite's page cache of 64 MiB
(67 MB), which may still be empty on a busy machine."""
_LOOK_SECONDS = 0.5

_SERVICES = {"auth": auth_pb2, "links": links_pb2, "analytics": analytics_pb2}


class Fuzzing(ThreadGroup):
    """Sends the cases of a seed to a running product from several threads while the block lasts.

    The first defect ends it, and is raised at the end of the block.
    """

    def __init__(self, product: Product, seed: int, token: str) -> None:
        self._seed = seed
        self._ports: dict[str, PublicPort | InnerPort] = {
            "public": PublicPort(product.address("gateway"), seed, token)
        }
        for name, module in _SERVICES.items():
            for service in module.DESCRIPTOR.services_by_name.values():
                is_public = service.name in (f"{name.title()}Service", "AdministrationService")
                address = product.address(name) if is_public else product.admin_address(name)
                self._ports[service.full_name] = InnerPort(address, seed, service)
        super().__init__(
            partial(self._work, name)
            for name in self._ports
            for _ in range(PUBLIC_WORKERS if name == "public" else 1)
        )
        self._lock = threading.Lock()
        self._next = dict.fromkeys(self._ports, 0)
        self.ends: dict[str, Counter[str]] = {name: Counter() for name in self._ports}
        """Results by port: statuses of responses, or codes of calls."""

    def send(self, name: str, number: int) -> None:
        """Send one case. Raises DefectError."""
        try:
            ends = self._ports[name].send(number)
        except (DefectError, OSError) as error:
            case = f"SEED={self._seed} CASE={name}:{number}"
            raise DefectError(f"{case}: {error or type(error).__name__}") from error
        with self._lock:
            self.ends[name].update(ends)

    def wait(self, seconds: float) -> None:
        """Continue for a time, or until a defect is found."""
        self._stopping.wait(seconds)

    @property
    def goes_on(self) -> bool:
        """Return whether no defect was found yet."""
        return not self._stopping.is_set()

    def _work(self, name: str) -> None:
        while not self._stopping.is_set():
            with self._lock:
                number = self._next[name]
                self._next[name] += 1
            self.send(name, number)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        finally:
            for port in self._ports.values():
                port.close()


def fuzz(folder: Path, seed: int, seconds: float = float("inf")) -> dict[str, Counter[str]]:
    """Fuzz a product on a folder and return the results by port.

    Raises DefectError for a case, and AssertionError for effects of all of them.
    """
    with Product(folder, forked=False) as product:
        token, canary = _prepare(product)
        pids = {name: product.pid(name) for name in PROCESSES}
        settled = _memory(pids)
        followed = 0
        started = time.monotonic()
        fuzzing = Fuzzing(product, seed, token)
        try:
            with fuzzing:
                while fuzzing.goes_on and (spent := time.monotonic() - started) < seconds:
                    answer = product.visit(canary)
                    assert answer.status_code == 302, f"{answer.status_code} {answer.text}"
                    followed += 1
                    if spent < min(seconds * SETTLED_SHARE, SETTLED_SECONDS):
                        now = _memory(pids)
                        settled = {name: max(size, now[name]) for name, size in settled.items()}
                    fuzzing.wait(_LOOK_SECONDS)
        except KeyboardInterrupt:
            pass  # Enough; check the effects as usual.
        wait_until(lambda: product.views(token)[canary] == followed, RECOVERY_SECONDS)
        ended = {name: pid for name, pid in pids.items() if not Path(f"/proc/{pid}").exists()}
        assert not ended, f"processes ended: {ended}"
        faults = _faults(product)
        assert not faults, f"the logs tell of {len(faults)} faults: {faults[:3]}"
        _compare_memory(settled, pids)
        return fuzzing.ends


def _prepare(product: Product) -> tuple[str, str]:
    """Start the product. Returns a session token and the code of a link of its account."""
    product.start()
    token = product.log_in(product.register())
    for code in KNOWN_CODES:
        product.shorten("https://example.com/", code=code)
    # A case may block the destinations of other links, but never the canary's host.
    return token, product.shorten("https://canary.example/", token)


def _faults(product: Product) -> list[str]:
    """Return log lines that are not JSON, are errors, or contain a traceback."""
    faults = []
    for line in product.logs().splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            faults.append(line)
            continue
        if entry["level"] in ("error", "critical") or "exception" in entry:
            faults.append(line)
    return faults


def _compare_memory(settled: dict[str, float], pids: dict[str, int]) -> None:
    grown = {name: size - settled[name] for name, size in _memory(pids).items()}
    over = {name: size for name, size in grown.items() if size > GROWTH_MEGABYTES[name]}
    assert not over, f"memory grew, in MB: {over}"


def _memory(pids: dict[str, int]) -> dict[str, float]:
    """Return the resident megabytes by process."""
    sizes = {}
    for name, pid in pids.items():
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        sizes[name] = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return sizes


def main() -> None:
    """Run with the environment's seed or a new one, and print the results."""
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    seconds = float(os.environ.get("FOR") or "inf")
    case = os.environ.get("CASE") or ""
    sys.stdout.write(f"SEED={seed}\n")
    sys.stdout.flush()
    folder = mkdtemp(prefix="atajo-fuzz-")
    try:
        ends = repeat(Path(folder), seed, case) if case else fuzz(Path(folder), seed, seconds)
    except (DefectError, AssertionError) as defect:
        sys.exit(f"{defect}\nIts logs and stores are in {folder}")
    rmtree(folder)
    for name, counts in ends.items():
        told = ", ".join(f"{end} {count:,}" for end, count in counts.most_common())
        sys.stdout.write(f"{name:10} {counts.total():10,}   {told}\n")


def repeat(folder: Path, seed: int, case: str) -> dict[str, Counter[str]]:
    """Send one case, `<port>:<number>`, to a product on a folder. Raises DefectError."""
    name, _, number = case.partition(":")
    with Product(folder) as product:
        token, _ = _prepare(product)
        fuzzing = Fuzzing(product, seed, token)
        fuzzing.send(name, int(number))
        return fuzzing.ends


if __name__ == "__main__":
    main()
