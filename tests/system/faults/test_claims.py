"""A guest's links become an account's, whatever dies meanwhile and whoever else wants them.

In each round two accounts claim the links of one guest at once, and repeat the call until it is
answered, while others are made with the guest's key. links, the gateway or both are killed in the
midst of it.
"""

from __future__ import annotations

import random
import secrets
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.support.gateway_client import new_code
from tests.support.processes import NO_TLS, TIMEOUT_SECONDS
from tests.support.thread_group import ThreadGroup
from tests.system.faults.caller import Caller
from tests.system.faults.fleet import STORES, Fleet, fleet_on

MAKERS = 2
_TAKEN = 409
_LONGEST = 0.05
"""Seconds after the claims began up to which a kill may come: a claim takes less."""


class Makers(ThreadGroup):
    """Make links with a guest's key, one after the other, until the block ends.

    `made` has those that were acknowledged. A creation that broke off is repeated as it was, and is
    refused once the link of the first try was claimed: then it is there all the same.
    """

    def __init__(self, fleet: Fleet, guest: dict[str, str]) -> None:
        super().__init__([self._make] * MAKERS)
        self._fleet = fleet
        self._guest = guest
        self._changed = threading.Condition()
        self.made: dict[str, str] = {}
        self.failures: list[object] = []

    def await_more(self, count: int) -> set[str]:
        """Wait for further links; returns the codes of all there are."""
        with self._changed:
            wanted = len(self.made) + count
            there = self._changed.wait_for(
                lambda: len(self.made) >= wanted or self.failures, TIMEOUT_SECONDS
            )
            assert there, "no links are made"
            assert not self.failures, self.failures
            return set(self.made)

    def _make(self) -> None:
        with closing(Caller(self._fleet)) as caller:
            while not self._stopping.is_set():
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
            # Under kills either may get all. Of what was under way each maker had one.
            for account in accounts:
                makers.await_more(MAKERS + 1)
                claimed += claim(account)
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
