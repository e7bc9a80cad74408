"""A guest's links move to one account, under kills and competing claims.

In each round two accounts claim the links of one guest concurrently, and repeat the call until it
is answered, while more links are created with the guest's key. links, the gateway or both are
killed meanwhile.
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
"""Maximum seconds from the start of the claims to a kill. A claim takes less."""


class Makers(ThreadGroup):
    """Create links with a guest's key, one at a time, until the block ends.

    `made` has the acknowledged ones. An interrupted creation is repeated. It is refused if the link
    of the first attempt was claimed: then the link exists.
    """

    def __init__(self, fleet: Fleet, guest: dict[str, str]) -> None:
        super().__init__([self._make] * MAKERS)
        self._fleet = fleet
        self._guest = guest
        self._changed = threading.Condition()
        self.made: dict[str, str] = {}
        self.failures: list[object] = []

    def await_more(self, count: int) -> set[str]:
        """Wait for more links and return the codes of all."""
        with self._changed:
            target = len(self.made) + count
            there = self._changed.wait_for(
                lambda: len(self.made) >= target or self.failures, TIMEOUT_SECONDS
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
            # Under kills either account may get all. Each creator had one creation in progress.
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
