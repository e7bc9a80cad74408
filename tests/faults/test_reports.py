"""Reports are kept whatever dies meanwhile: none that was acknowledged is lost, each has one id.

Some reporters report some links for some reasons, one after the other, while links and the gateway
are killed.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import grpc
import pytest

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from tests.faults.database import mongodb
from tests.faults.fleet import Fleet
from tests.faults.run import STORES
from tests.load_generator import Connection, NotReachedError
from tests.processes import PATIENCE

REPORTERS = 3
REASONS = ("phishing", "malware", "spam", "illegal", "other")
SETTINGS = {"ATAJO_LIMIT_REPORTS": "100000/second"}
_UNANSWERED = 0
Place = tuple[str, str]
"""A link's code and a reason."""


class Reporters:
    """Report links for as long as the block lasts."""

    def __init__(self, fleet: Fleet, codes: list[str], chance: random.Random) -> None:
        self._fleet = fleet
        self._codes = codes
        self._chance = chance
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self.acknowledged: Counter[Place] = Counter()
        self.unanswered: Counter[Place] = Counter()
        """Tries that may have been kept."""
        self.ids: defaultdict[Place, set[str]] = defaultdict(set)
        self.failures: list[object] = []
        self._threads = [threading.Thread(target=self._report) for _ in range(REPORTERS)]

    def await_more(self, count: int) -> None:
        """Wait for further reports."""
        with self._changed:
            wanted = self.acknowledged.total() + count
            there = self._changed.wait_for(
                lambda: self.acknowledged.total() >= wanted or self.failures, PATIENCE
            )
            assert there, "nothing is reported"
            assert not self.failures, self.failures

    def _report(self) -> None:
        with closing(Connection(self._fleet.url, PATIENCE)) as connection:
            while not self._stop.is_set():
                code, reason = self._chance.choice(self._codes), self._chance.choice(REASONS)
                details = f"{code} {reason}"
                payload = {"code": code, "reason": reason, "details": details, "contact": "a@b"}
                try:
                    status, body = connection.ask("POST", "/reportLink", payload)
                except NotReachedError:
                    time.sleep(0.01)
                    continue
                except OSError:
                    status, body = _UNANSWERED, b""
                with self._changed:
                    if status == 200:
                        self.acknowledged[code, reason] += 1
                        self.ids[code, reason].add(json.loads(body)["data"]["report"])
                    elif status in (_UNANSWERED, 503, 504):
                        self.unanswered[code, reason] += 1
                    else:
                        self.failures.append((status, body))
                    self._changed.notify_all()

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


@contextmanager
def fleet_on(store: str, folder: Path) -> Iterator[Fleet]:
    """A fleet over a new store, where nobody reports too much."""
    if store == "sqlite":
        with Fleet(folder, SETTINGS) as fleet:
            yield fleet
    else:
        with mongodb() as database, Fleet(folder, SETTINGS, store=database.url) as fleet:
            yield fleet


def waiting(fleet: Fleet) -> dict[Place, pb.Report]:
    """All reports that wait, as the operator sees them."""
    found: list[pb.Report] = []
    after = ""
    with grpc.insecure_channel(fleet.admin_address("links")) as channel:
        stub = pb_grpc.AdminServiceStub(channel)
        while True:
            page = stub.ListReports(pb.ListReportsRequest(after=after), timeout=10)
            found += page.reports
            after = page.next
            if not after:
                break
    return {(one.link.code, REASONS[one.reason - 1]): one for one in found}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("store", STORES)
def test_every_report_that_was_acknowledged_waits(tmp_path: Path, store: str, kills: int) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 - shown where it fails
    chance = random.Random(seed)
    with fleet_on(store, tmp_path) as fleet:
        fleet.start()
        codes = [fleet.shorten(f"https://example.com/{number}") for number in range(8)]
        with Reporters(fleet, codes, chance) as reporters:
            while fleet.kills < kills:
                reporters.await_more(chance.randint(1, 60))
                victims = chance.choice([("links",), ("gateway",), ("links", "gateway")])
                fleet.strike(*victims)
                for victim in victims:
                    fleet.rise(victim)
                fleet.await_all()
            reporters.await_more(30)

        found = waiting(fleet)
        assert found.keys() >= reporters.acknowledged.keys()
        # A call that a kill broke off may have been made twice by the gateway, and answered then.
        twice = fleet.kills * REPORTERS
        for place, report in found.items():
            acknowledged, unanswered = reporters.acknowledged[place], reporters.unanswered[place]
            assert acknowledged <= report.count <= acknowledged + unanswered + twice, place
            assert {report.id} >= reporters.ids[place]
            code, reason = place
            said = {(one.details, one.contact) for one in report.statements}
            assert said == {(f"{code} {reason}", "a@b")}
            assert len(report.statements) == min(5, report.count)
            assert report.link.state == pb.LINK_STATE_ACTIVE
        total = sum(report.count for report in found.values())
        most = reporters.acknowledged.total() + reporters.unanswered.total() + twice
        assert reporters.acknowledged.total() <= total <= most
