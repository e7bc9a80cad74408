"""No acknowledged report is lost under kills, and each has one id.

Several reporters report several links for several reasons, while links and the gateway are killed.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.system.faults.fleet import STORES, fleet_on
from tests.system.faults.reporters import NO_LIMIT, Reporters


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("store", STORES)
def test_every_acknowledged_report_waits(tmp_path: Path, store: str, kills: int) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 - shown where it fails
    chance = random.Random(seed)
    with fleet_on(store, tmp_path, NO_LIMIT) as fleet:
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
        reporters.compare(fleet.kills)
