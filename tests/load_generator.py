"""Visitors and makers of links who note what they were answered, and go on through failures."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType
from typing import Self

import httpx

from tests.product import BROWSER, Product, new_code

PATIENCE = 60.0


class Load:
    """Threads that visit and create, bounded by `most_visits`, until the block ends.

    `answered` are visits whose 302 arrived whole: each must be counted once. `unanswered` are
    those whose connection broke: each may have been counted or not. `created` are the links
    whose success arrived.
    """

    def __init__(
        self, product: Product, token: str, codes: list[str], *, visitors: int, makers: int
    ) -> None:
        self._product = product
        self._token = token
        self._codes = codes
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            *(threading.Thread(target=self._visit, args=(n,)) for n in range(visitors)),
            *(threading.Thread(target=self._create) for _ in range(makers)),
        ]
        self.answered: Counter[str] = Counter()
        self.unanswered: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.created: dict[str, str] = {}
        self.failures: list[str] = []

    def await_more(self, visits: int = 0, created: int = 0) -> None:
        """Wait until so many more visits were answered and links created."""
        with self._lock:
            wanted = self.answered.total() + visits
            made = len(self.created) + created
        self.await_that(lambda: self.answered.total() >= wanted and len(self.created) >= made)

    def await_that(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on the notes holds."""
        deadline = time.monotonic() + PATIENCE
        while True:
            with self._lock:
                if condition():
                    return
                state = f"{self.answered.total()} answered, {len(self.created)} created"
            assert time.monotonic() < deadline, f"The load stands still: {state} {self.statuses}"
            assert not self.failures, self.failures
            self._stop.wait(0.01)

    def _visit(self, number: int) -> None:
        turn = number
        with httpx.Client(timeout=10, headers={"user-agent": BROWSER}) as http:
            while not self._stop.is_set():
                turn += 1
                code = self._codes[turn % len(self._codes)]
                try:
                    status = http.get(f"{self._product.url}/{code}").status_code
                except (httpx.ConnectError, httpx.ConnectTimeout):
                    self._stop.wait(0.02)  # Nobody was reached: nothing can have been counted.
                    continue
                except httpx.TransportError:
                    with self._lock:
                        self.unanswered[code] += 1
                    continue
                with self._lock:
                    self.statuses[status] += 1
                    if status == 302:
                        self.answered[code] += 1
                    elif status != 503:
                        self.failures.append(f"{code} answered {status}")
                if status == 503:
                    self._stop.wait(0.02)

    def _create(self) -> None:
        with httpx.Client(timeout=10) as http:
            code = url = ""
            while not self._stop.is_set():
                if not code:  # A failed creation is repeated as it was, as the page does.
                    code = new_code()
                    url = f"https://example.com/{code}"
                payload = {"data": {"code": code, "url": url, "token": self._token}}
                try:
                    response = http.post(f"{self._product.url}/createShortLink", json=payload)
                except httpx.TransportError:
                    self._stop.wait(0.02)
                    continue
                if response.status_code == 200 and response.json()["data"]["success"]:
                    with self._lock:
                        self.created[code] = url
                    code = ""
                elif response.status_code not in (503, 504):
                    self.failures.append(f"creation answered {response.text}")
                    return
                else:
                    self._stop.wait(0.02)

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
