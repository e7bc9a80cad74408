"""Puts a limited load on the product, and compares its results with what is stored."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.load_generator import Load
from tests.support.product import Product
from tests.system.faults.operator import Operator
from tests.system.faults.reporters import Reporters

VISITORS = 4
_MAKERS = 1
_OWNERS = 1
_REPORTERS = 1
_PAUSE = 0.2
_PAUSE_OF_FEW = 1.0
"""Seconds between two decisions of the operator, or two reports."""
_CODES = 10
_SECONDS_TO_COUNT = 90.0


class Account:
    """The responses to a load, and what the product stored of it."""

    def __init__(self, product: Product) -> None:
        self._product = product
        email = product.register()
        self._token = product.log_in(email)
        codes = [product.shorten(f"https://example.com/{n}", self._token) for n in range(_CODES)]
        self.load = Load(
            product,
            self._token,
            codes,
            visitors=VISITORS,
            makers=_MAKERS,
            owners=_OWNERS,
            pause=_PAUSE,
            repeats=True,
        )
        self.operator = Operator(product, 2, pause=_PAUSE_OF_FEW)
        self.reporters = Reporters(
            product, codes[:2], random.Random(), count=_REPORTERS, pause=_PAUSE_OF_FEW
        )
        self.kills = 0
        """How often requests in progress may have been interrupted."""
        self._counted: Counter[str] = Counter()

    def settle(self) -> None:
        """Wait until every answered visit is counted, and assert that every creation, change,
        removal, restoration, claim, report and decision is stored.
        """
        deadline = time.monotonic() + _SECONDS_TO_COUNT
        while True:
            self._counted = Counter(self._product.views(self._token))
            missing = self.load.answered - self._counted
            if not missing:
                break
            assert time.monotonic() < deadline, f"not counted: {missing}"
            time.sleep(0.5)
        lost = self.load.created.keys() - self._counted.keys()
        assert not lost, f"acknowledged links that are not there: {lost}"
        self.load.check_owned()
        assert not self.load.failures, self.load.failures
        self.operator.compare()
        self.reporters.compare(self.kills)

    @property
    def surplus(self) -> int:
        """Visits counted that were not answered."""
        return (self._counted - self.load.answered).total()

    @property
    def broken(self) -> dict[str, int]:
        """Failed requests by status, or `broken` (no response) or `unreached` (no connection)."""
        kinds = {0: "broken", -1: "unreached"}
        both = self.load.statuses + self.load.calls
        return {
            str(kinds.get(status, status)): number
            for status, number in sorted(both.items())
            if status not in (200, 302, 404)
        }

    def __str__(self) -> str:
        edits = ", ".join(f"{name} {number}" for name, number in sorted(self.load.edits.items()))
        return (
            f"{self.load.answered.total()} visits answered, {self._counted.total()} counted, "
            f"{len(self.load.created)} links made and kept, edits kept: {edits}, "
            f"{self.reporters.acknowledged.total()} reports and {self.operator.decisions} "
            f"decisions kept, failed requests: {self.broken or 0}"
        )


@contextmanager
def bounded_load(product: Product) -> Iterator[Account]:
    """Make some twenty visits, creations and edits a second while the block runs.

    Also reports links, and blocks and frees others as the operator.
    """
    account = Account(product)
    with account.load as load, account.operator, account.reporters:
        load.await_more(visits=20, created=3)
        account.reporters.await_more(1)
        yield account
        load.await_more(visits=40, created=5)
    account.settle()


def assert_nothing_failed(account: Account) -> None:
    """Assert that every request was answered, and every answered visit counted once."""
    assert not account.broken, account.load.first_failed
    assert not account.reporters.unanswered, account.reporters.unanswered
    assert account.surplus == 0, "visits were counted that nobody was answered"
