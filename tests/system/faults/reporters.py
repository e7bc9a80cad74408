"""Reporters of links under faults, and the reports that the operator must see."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing

import grpc

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from tests.support.http_connection import Connection, NotReachedError
from tests.support.load_generator import AWAY
from tests.support.processes import TIMEOUT_SECONDS
from tests.support.product import Product
from tests.support.thread_group import ThreadGroup

REASONS = ("phishing", "malware", "spam", "illegal", "other")
NO_LIMIT = {"ATAJO_LIMIT_REPORTS": "100000/second"}
"""Settings without a limit on reports."""
_UNANSWERED = 0
_MORE_TRIES = 2
"""Retries of the gateway. Each attempt may have been counted."""
Place = tuple[str, str]
"""A link's code and a reason."""


class Reporters(ThreadGroup):
    """Reports links for a number of reasons, one at a time, while the block lasts."""

    def __init__(
        self,
        product: Product,
        codes: Sequence[str],
        chance: random.Random,
        *,
        count: int = 3,
        pause: float = 0.0,
    ) -> None:
        super().__init__([self._report] * count)
        self._count = count
        self._product = product
        self._codes = codes
        self._chance = chance
        self._pause = pause
        self._changed = threading.Condition()
        self.acknowledged: Counter[Place] = Counter()
        self.unanswered: Counter[Place] = Counter()
        """Attempts that may have been stored."""
        self._ids: defaultdict[Place, set[str]] = defaultdict(set)
        self._failures: list[object] = []

    def await_more(self, count: int) -> None:
        """Wait for further reports."""
        with self._changed:
            target = self.acknowledged.total() + count
            there = self._changed.wait_for(
                lambda: self.acknowledged.total() >= target or self._failures, TIMEOUT_SECONDS
            )
            assert there, "nothing is reported"
            assert not self._failures, self._failures

    def compare(self, broken: int) -> None:
        """Assert that the operator sees the acknowledged reports, after the block.

        `broken` is how often calls in progress were interrupted.
        """
        assert not self._failures, self._failures
        found = self._waiting()
        lost = self.acknowledged.keys() - found.keys()
        assert not lost, f"reports were lost: {lost}"
        twice = _MORE_TRIES * (broken * self._count + self.unanswered.total())
        for place, report in found.items():
            acknowledged, unanswered = self.acknowledged[place], self.unanswered[place]
            assert acknowledged <= report.count <= acknowledged + unanswered + twice, place
            assert {report.id} >= self._ids[place], f"{place} has {report.id}: {self._ids[place]}"
            code, reason = place
            said = {(one.details, one.contact) for one in report.statements}
            assert said == {(f"{code} {reason}", "a@b")}
            assert len(report.statements) == min(5, report.count)
            assert report.link.state == pb.LINK_STATE_ACTIVE
        total = sum(report.count for report in found.values())
        maximum = self.acknowledged.total() + self.unanswered.total() + twice
        assert self.acknowledged.total() <= total <= maximum

    def _waiting(self) -> dict[Place, pb.Report]:
        """Return all waiting reports of the links, as the operator sees them."""
        found: list[pb.Report] = []
        after = ""
        with grpc.insecure_channel(self._product.admin_address("links")) as channel:
            stub = pb_grpc.ModerationServiceStub(channel)
            while True:
                page = stub.ListReports(pb.ListReportsRequest(after=after), timeout=10)
                found += page.reports
                after = page.next
                if not after:
                    break
        return {
            (one.link.code, REASONS[one.reason - 1]): one
            for one in found
            if one.link.code in self._codes
        }

    def _report(self) -> None:
        with closing(Connection(self._product.url, TIMEOUT_SECONDS)) as connection:
            while not self._stopping.wait(self._pause):
                code, reason = self._chance.choice(self._codes), self._chance.choice(REASONS)
                details = f"{code} {reason}"
                payload = {"code": code, "reason": reason, "details": details, "contact": "a@b"}
                try:
                    status, body = connection.ask("POST", "/reportLink", payload)
                except NotReachedError:
                    self._stopping.wait(0.01)
                    continue
                except OSError:
                    status, body = _UNANSWERED, b""
                with self._changed:
                    if status == 200:
                        self.acknowledged[code, reason] += 1
                        self._ids[code, reason].add(json.loads(body)["data"]["report"])
                    elif status in (_UNANSWERED, *AWAY):
                        self.unanswered[code, reason] += 1
                    else:
                        self._failures.append((status, body))
                    self._changed.notify_all()
