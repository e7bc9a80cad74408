"""A guest's links become an account's, whatever dies meanwhile and whoever else wants them.

In each round two accounts claim the links of one guest at once, and repeat the call until it is
answered, while others are made with the guest's key. links, the gateway or both are killed in the
midst of it.
"""

from __future__ import annotations

import json
import random
import secrets
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import pytest

from tests.faults.database import mongodb
from tests.faults.fleet import Fleet
from tests.faults.run import STORES
from tests.load_generator import Connection, NotReachedError
from tests.processes import NO_TLS, PATIENCE
from tests.product import new_code

MAKERS = 2
_AWAY = (503, 504)
_TAKEN = 409
_LONGEST = 0.05
"""Seconds after the claims began up to which a kill may come: a claim takes less."""


class Caller:
    """Calls functions, and repeats each until it is answered. To be closed."""

    def __init__(self, fleet: Fleet) -> None:
        self._connection = Connection(fleet.url, 70)

    def ask(self, name: str, data: object) -> tuple[int, Any]:
        """The status and what stands under `data`, once neither a part nor an answer is missing."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                status, body = self._connection.ask("POST", f"/{name}", data)
            except (NotReachedError, OSError):
                status, body = _AWAY[0], b""
            if status not in _AWAY:
                return status, json.loads(body).get("data")
            time.sleep(0.01)
        raise AssertionError(f"{name} is not answered: {status} {body!r}")

    def data(self, name: str, data: object) -> Any:
        """The same of a call that succeeds."""
        status, reply = self.ask(name, data)
        assert status == 200, f"{name} answered {status}"
        assert reply["success"], f"{name} answered {reply}"
        return reply

    def owned(self, owner: dict[str, str]) -> dict[str, str]:
        """Where the links of an owner lead, by code; none of them is there twice."""
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


class Makers:
    """Make links with a guest's key, one after the other, until the block ends.

    `made` has those that were acknowledged. A creation that broke off is repeated as it was, and is
    refused once the link of the first try was claimed: then it is there all the same.
    """

    def __init__(self, fleet: Fleet, guest: dict[str, str]) -> None:
        self._fleet = fleet
        self._guest = guest
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self.made: dict[str, str] = {}
        self.failures: list[object] = []
        self._threads = [threading.Thread(target=self._make) for _ in range(MAKERS)]

    def await_more(self, count: int) -> set[str]:
        """Wait for further links; returns the codes of all there are."""
        with self._changed:
            wanted = len(self.made) + count
            there = self._changed.wait_for(
                lambda: len(self.made) >= wanted or self.failures, PATIENCE
            )
            assert there, "no links are made"
            assert not self.failures, self.failures
            return set(self.made)

    def _make(self) -> None:
        with closing(Caller(self._fleet)) as caller:
            while not self._stop.is_set():
                code = new_code()
                url = f"https://example.com/{code}"
                new = {"code": code, "url": url, **self._guest}
                status, reply = caller.ask("createShortLink", new)
                with self._changed:
                    if status in (200, _TAKEN):
                        self.made[code] = url
                    else:
                        self.failures.append((status, reply))
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
    """A fleet over a new store."""
    if store == "sqlite":
        with Fleet(folder) as fleet:
            yield fleet
    else:
        with mongodb() as database, Fleet(folder, store=database.url) as fleet:
            yield fleet


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("store", STORES)
def test_claims_killed_many_times_leave_every_link_with_one_owner(
    tmp_path: Path, store: str, kills: int
) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 - shown where it fails
    chance = random.Random(seed)
    guest = {"guest": secrets.token_urlsafe(32)}
    with (
        fleet_on(store, tmp_path) as fleet,
        closing(Caller(fleet)) as caller,
        ThreadPoolExecutor(2) as pool,
    ):

        def claim(account: dict[str, str]) -> int:
            with closing(Caller(fleet)) as own:
                moved: int = own.data("claimLinks", {**account, **guest})["claimed"]
                return moved

        fleet.start()
        tokens = [fleet.log_in(fleet.register()) for _ in range(2)]
        accounts = [{"token": token} for token in tokens]
        claimed = 0
        with Makers(fleet, guest) as makers:
            while fleet.kills < kills:
                there = makers.await_more(chance.randint(1, 30))
                claims = [pool.submit(claim, account) for account in accounts]
                time.sleep(chance.uniform(0, _LONGEST))
                victims = chance.choice([("links",), ("gateway",), ("links", "gateway")])
                fleet.strike(*victims)
                for victim in victims:
                    fleet.rise(victim)
                claimed += sum(one.result() for one in claims)
                fleet.await_all()
                left = there & caller.owned(guest).keys()
                assert not left, f"acknowledged claims left {left}"
        caller.data("claimLinks", {**accounts[0], **guest})

        first, second = (caller.owned(account) for account in accounts)
        assert caller.owned(guest) == {}
        assert not first.keys() & second.keys()
        assert first | second == makers.made
        assert 0 < claimed <= len(makers.made)
        assert first
        assert second
        with httpx.Client(verify=NO_TLS) as http:
            for code, url in makers.made.items():
                assert http.head(f"{fleet.url}/{code}").headers["location"] == url
        assert guest["guest"] not in fleet.logs()
