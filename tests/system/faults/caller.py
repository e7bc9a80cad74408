"""Calls functions of a product under faults, and repeats calls until they are answered."""

from __future__ import annotations

import json
import time
from typing import Any

from tests.support.http_connection import Connection, NotReachedError
from tests.support.load_generator import AWAY
from tests.support.processes import TIMEOUT_SECONDS
from tests.support.product import Product


class Caller:
    """Calls functions and repeats each call until it is answered. Must be closed."""

    def __init__(self, product: Product) -> None:
        self._connection = Connection(product.url, 70)

    def ask(self, name: str, data: object) -> tuple[int, Any]:
        """Return the status and `data` of the first complete response."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while time.monotonic() < deadline:
            try:
                status, body = self._connection.ask("POST", f"/{name}", data)
            except (NotReachedError, OSError):
                status, body = AWAY[0], b""
            if status not in AWAY:
                return status, json.loads(body).get("data")
            time.sleep(0.01)
        raise AssertionError(f"{name} is not answered: {status} {body!r}")

    def data(self, name: str, data: object) -> Any:
        """Return the `data` of a call that succeeds."""
        status, reply = self.ask(name, data)
        assert status == 200, f"{name} answered {status}"
        assert reply["success"], f"{name} answered {reply}"
        return reply

    def owned(self, owner: dict[str, str]) -> dict[str, str]:
        """Return the destinations of an owner's links by code. Asserts that none occurs twice."""
        found: list[Any] = []
        cursor = None
        while True:
            page = self.data("showLinks", {**owner, "limit": 100, "cursor": cursor})
            found += page["links"]
            if (cursor := page["cursor"]) is None:
                break
        links = {link["code"]: link["long_link"] for link in found}
        assert len(links) == len(found)
        return links

    def close(self) -> None:
        self._connection.close()
