"""What the operator removes is followed by no gateway any more, though all have it in memory.

Three gateways over links, of which MongoDB's has two replicas, followed by visitors all the while.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import grpc
import pytest

from atajo.links.v1 import links_pb2, links_pb2_grpc
from tests.load_generator import Connection
from tests.processes import PATIENCE, Process
from tests.product import Product, free_port
from tests.waiting import CHANGED, await_that
from tests.web import gateway_beside

GATEWAYS = 3
VISITORS = 2
"""Of each gateway; they think of nothing between two visits."""


class Replicas(Product):
    """A product with several links and several gateways, each with visitors of its own."""

    def __init__(self, folder: Path, store: str) -> None:
        self.links = [f"127.0.0.1:{free_port()}" for _ in range(2 if store else 1)]
        super().__init__(
            folder, {"ATAJO_LINKS_ADDRESS": f"ipv4:{','.join(self.links)}"}, store=store
        )
        self._ending = ExitStack()
        self._running: dict[str, Process] = {}

    def start_links(self, address: str) -> Process:
        """Start a replica of links."""
        env = self._env("links") | {"ATAJO_LISTEN": address}
        process = Process.start("services.links", env, self.folder / "links.log")
        self._running[address] = self._ending.enter_context(process)
        return process

    def kill_links(self, address: str) -> None:
        """SIGKILL."""
        self._running.pop(address).kill()

    def remove(self, address: str, codes: Sequence[str]) -> float:
        """Remove links as the operator does, at one replica; returns when that was acknowledged."""
        with grpc.insecure_channel(self._running[address].addresses["admin"]) as channel:
            request = links_pb2.PurgeLinksRequest(codes=codes)
            removed = links_pb2_grpc.AdminServiceStub(channel).PurgeLinks(request, timeout=PATIENCE)
        assert sorted(removed.codes) == sorted(codes)
        return time.monotonic()

    def start_gateway(self, name: str) -> str:
        """Start a gateway; returns its URL."""
        settings = {"ATAJO_LINKS_ADDRESS": self._settings["ATAJO_LINKS_ADDRESS"]}
        process = self._ending.enter_context(gateway_beside(self, self.folder / name, settings))
        return f"http://{process.addresses['http']}"

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.close()
        super().__exit__(kind, error, trace)


class Visitors:
    """Follow all codes at each gateway, one after the other, until the block ends."""

    def __init__(self, gateways: Sequence[str], codes: Sequence[str]) -> None:
        self.gateways = gateways
        self.codes = codes
        self.followed: dict[str, float] = {}
        """When a code was last answered with its link, by whichever gateway."""
        self.statuses: dict[tuple[str, str], int] = {}
        """What a code was last answered by a gateway."""
        self.visits: dict[str, int] = defaultdict(int)
        """Answers of each gateway."""
        self.failures: list[str] = []
        """Links that came back, and what is no answer to a link that was there."""
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._visit, args=(gateway, number))
            for gateway in gateways
            for number in range(VISITORS)
        ]

    def await_round(self) -> None:
        """Wait until all codes were asked for anew at each gateway."""
        with self._lock:
            more = VISITORS * len(self.codes)
            wanted = {gateway: self.visits[gateway] + more for gateway in self.gateways}
        await_that(lambda: all(self.visits[gateway] >= n for gateway, n in wanted.items()))

    def seconds_until_gone(self, codes: Sequence[str], since: float) -> float:
        """Wait until no gateway follows these codes any more; returns for how long one did."""
        asked = [(gateway, code) for gateway in self.gateways for code in codes]
        await_that(lambda: all(self.statuses[one] == 404 for one in asked))
        return max(self.followed[code] for code in codes) - since

    def _visit(self, gateway: str, number: int) -> None:
        connection = Connection(gateway, 10)
        start = number * len(self.codes) // VISITORS
        for code in itertools.islice(itertools.cycle(self.codes), start, None):
            if self._stop.is_set():
                break
            before = self.statuses.get((gateway, code), 302)
            status, _ = connection.ask("GET", f"/{code}")
            now = time.monotonic()
            with self._lock:
                self.visits[gateway] += 1
                self.statuses[gateway, code] = status
                if status == 302:
                    self.followed[code] = now
                # Of a code without a link, what was believed is not believed for long.
                if status not in ((302, 404) if before == 302 else (404, 503)):
                    self.failures.append(f"{code} answered {before} and then {status}")
        connection.close()

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()


@pytest.fixture(params=["sqlite", "mongodb"])
def replicas(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Replicas]:
    store = request.getfixturevalue("mongo_url") if request.param == "mongodb" else ""
    with Replicas(tmp_path, store) as product:
        for address in product.links:
            product.start_links(address)
        product.start("auth", "analytics", "gateway")
        yield product


@pytest.mark.timeout(240)
def test_what_is_removed_is_followed_nowhere_within_seconds(replicas: Replicas) -> None:
    def batch() -> list[str]:
        return [replicas.shorten("https://example.com/") for _ in range(20)]

    kept, while_up, while_one_is_down, while_away, after = (batch() for _ in range(5))
    gateways = [replicas.url, *(replicas.start_gateway(f"gateway-{n}") for n in range(1, GATEWAYS))]
    first, last = replicas.links[0], replicas.links[-1]
    codes = [*kept, *while_up, *while_one_is_down, *while_away, *after]
    with Visitors(gateways, codes) as visitors:
        visitors.await_round()
        assert set(visitors.statuses.values()) == {302}

        acknowledged = replicas.remove(first, while_up)
        assert visitors.seconds_until_gone(while_up, acknowledged) < CHANGED

        if first != last:
            replicas.kill_links(first)
            acknowledged = replicas.remove(last, while_one_is_down)
            assert visitors.seconds_until_gone(while_one_is_down, acknowledged) < CHANGED
            replicas.start_links(first)

        for address in replicas.links:
            replicas.kill_links(address)
        # A replica that no gateway knows of.
        elsewhere = f"127.0.0.1:{free_port()}"
        replicas.start_links(elsewhere)
        replicas.remove(elsewhere, while_away)
        replicas.kill_links(elsewhere)
        # One that has nothing in memory, and hears no mark.
        late = replicas.start_gateway("late")
        visitors.await_round()
        for code in (*kept, *while_away):
            assert all(visitors.statuses[gateway, code] == 302 for gateway in gateways)
        replicas.start_links(first)
        back = time.monotonic()
        assert visitors.seconds_until_gone(while_away, back) < CHANGED

        if first != last:
            replicas.start_links(last)
        with Visitors([late], [*kept, *after]) as late_visitors:
            late_visitors.await_round()
            acknowledged = replicas.remove(last, after)
            assert visitors.seconds_until_gone(after, acknowledged) < CHANGED
            assert late_visitors.seconds_until_gone(after, acknowledged) < CHANGED
            late_visitors.await_round()
            for code in kept:
                assert late_visitors.statuses[late, code] == 302
        visitors.await_round()
        for code in kept:
            assert all(visitors.statuses[gateway, code] == 302 for gateway in gateways)
    assert not visitors.failures
    assert not late_visitors.failures
