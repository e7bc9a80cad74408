"""Two tabs that import the same rows under faults, and the links that must result."""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from contextlib import closing
from typing import Any

from tests.support.gateway_client import new_code
from tests.support.processes import TIMEOUT_SECONDS
from tests.support.product import Product
from tests.support.thread_group import ThreadGroup
from tests.system.faults.caller import Caller

TABS = 2
ROWS_PER_CALL = 20


class Importers(ThreadGroup):
    """Import rows in calls of `ROWS_PER_CALL`, in two tabs at once, while the block lasts.

    Every call is repeated until it is answered. Each tab, and each repetition by `compare`, sends
    a row with another code: the row must keep the first one.
    """

    def __init__(self, product: Product, token: str, pause: float = 0.0) -> None:
        super().__init__([self._import] * TABS)
        self._product = product
        self._pause = pause
        self._import_of = {"token": token, "import_id": secrets.token_urlsafe(16)}
        self._changed = threading.Condition()
        self._calls = 0
        self._codes: dict[int, str] = {}
        """The code of each row, as the first answer had it."""
        self._failures: list[object] = []

    def await_more(self, calls: int) -> None:
        """Wait for further answered calls."""
        with self._changed:
            target = self._calls + calls
            there = self._changed.wait_for(
                lambda: self._calls >= target or self._failures, TIMEOUT_SECONDS
            )
            assert there, "nothing is imported"
            assert not self._failures, self._failures

    def compare(self) -> None:
        """Assert, after the block, that each row has one link, and keeps it when sent again."""
        with closing(Caller(self._product)) as caller:
            for start in range(0, len(self._codes), ROWS_PER_CALL):
                self._send(caller, start)
            assert not self._failures, self._failures
            owned = caller.owned({"token": self._import_of["token"]})
            listed = caller.data("listImports", {"token": self._import_of["token"]})
        urls = Counter(owned.values())
        assert urls == Counter(_url_of(row) for row in self._codes), "each row once"
        assert owned == {code: _url_of(row) for row, code in self._codes.items()}
        [one] = listed["imports"]
        assert (one["links"], one["removed"]) == (len(self._codes), 0)

    def undo(self) -> int:
        """Undo the import until that is answered; return how many links that removed."""
        with closing(Caller(self._product)) as caller:
            removed: int = caller.data("undoImport", self._import_of)["removed"]
            return removed

    @property
    def rows(self) -> int:
        """The number of answered rows."""
        return len(self._codes)

    def _import(self) -> None:
        start = 0
        with closing(Caller(self._product)) as caller:
            while not self._stopping.wait(self._pause):
                self._send(caller, start)
                start += ROWS_PER_CALL

    def _send(self, caller: Caller, start: int) -> None:
        rows = [
            {"row": row, "code": new_code(), "url": _url_of(row)}
            for row in range(start, start + ROWS_PER_CALL)
        ]
        status, reply = caller.ask("importLinks", {**self._import_of, "rows": rows})
        with self._changed:
            if status != 200 or not reply["success"]:
                self._failures.append((status, reply))
            else:
                self._note(reply["results"])
            self._calls += 1
            self._changed.notify_all()

    def _note(self, results: list[Any]) -> None:
        for result in results:
            row, code = result["row"], result["code"]
            if result["verdict"] != "new" or self._codes.setdefault(row, code) != code:
                self._failures.append((result, self._codes.get(row)))


def _url_of(row: int) -> str:
    return f"https://example.com/rows/{row}"
