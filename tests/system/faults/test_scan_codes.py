"""A link gets one scan code, under kills and concurrent requests.

In each round several clients request the scan codes of the same links concurrently, and repeat the
call until it is answered. links, the gateway or both are killed meanwhile.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.gateway_client import new_code
from tests.support.waiting import RECOVERY_SECONDS, wait_until
from tests.system.faults.caller import Caller
from tests.system.faults.fleet import STORES, Fleet, fleet_on

ASKERS = 3
LINKS = 8
"""Links per round."""
_LONGEST = 0.1
"""Maximum seconds from the start of the calls to a kill. A round takes about as long."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("store", STORES)
def test_scan_codes_made_under_kills_are_one_each_and_count_once(
    tmp_path: Path, store: str, kills: int
) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 - shown where it fails
    chance = random.Random(seed)
    guest = {"guest": secrets.token_urlsafe(32)}
    scan_codes: dict[str, str] = {}
    with (
        fleet_on(store, tmp_path) as fleet,
        closing(Caller(fleet)) as caller,
        ThreadPoolExecutor(ASKERS) as pool,
    ):
        fleet.start()
        while fleet.kills < kills:
            codes = [make(caller, guest) for _ in range(LINKS)]
            rounds = [pool.submit(scan_codes_of, fleet, guest, codes) for _ in range(ASKERS)]
            time.sleep(chance.uniform(0, _LONGEST))
            victims = chance.choice([("links",), ("gateway",), ("links", "gateway")])
            fleet.strike(*victims)
            for victim in victims:
                fleet.rise(victim)
            first, *others = (one.result() for one in rounds)
            fleet.await_all()
            assert others == [first] * (ASKERS - 1), "all were told the same"
            scan_codes |= dict(zip(codes, first, strict=True))

        assert len(set(scan_codes.values())) == len(scan_codes)
        for code, scan_code in scan_codes.items():
            link = caller.data("showLink", {**guest, "code": code})["link"]
            assert link["scan_code"] == scan_code
            assert fleet.visit(scan_code).headers["location"] == link["long_link"]
        fleet.strike("gateway")
        fleet.rise("gateway")
        fleet.await_all()
        expected = [{"name": "qr", "people": len(scan_codes)}]
        wait_until(lambda: sources(caller, guest) == expected, RECOVERY_SECONDS)
        for code in scan_codes:
            assert sources(caller, guest, code) == [{"name": "qr", "people": 1}]


def make(caller: Caller, owner: dict[str, str]) -> str:
    """Create a link and return its code."""
    code = new_code()
    new = {"code": code, "url": f"https://example.com/{code}", **owner}
    caller.data("createShortLink", new)
    return code


def scan_codes_of(fleet: Fleet, owner: dict[str, str], codes: Sequence[str]) -> list[str]:
    """Request the scan codes of links, one at a time."""
    with closing(Caller(fleet)) as own:
        return [own.data("createScanCode", {**owner, "code": code})["scan_code"] for code in codes]


def sources(caller: Caller, owner: dict[str, str], code: str | None = None) -> Any:
    """Return the sources of visits to a link, or to all links of an owner."""
    reply = caller.data("showStatistics", {**owner, "code": code, "range": "24 hours"})
    return reply["breakdowns"]["source"]
