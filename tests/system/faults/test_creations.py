"""Each call with an idempotency key creates its links once, under kills and with two clients."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.system.faults.creators import CLIENTS, Creators
from tests.system.faults.fleet import STORES, fleet_on

_LONGEST = 0.05
"""Maximum seconds until a kill. A call takes less."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("store", STORES)
def test_each_call_creates_its_links_once_whatever_is_killed(
    tmp_path: Path, store: str, kills: int
) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 - shown where it fails
    chance = random.Random(seed)
    with fleet_on(store, tmp_path) as fleet:
        fleet.start()
        with Creators(fleet) as creators:
            creators.await_more(CLIENTS)
            while fleet.kills < kills:
                creators.await_more(chance.randint(1, 5))
                time.sleep(chance.uniform(0, _LONGEST))
                fleet.strike("links")
                fleet.rise("links")
                fleet.await_all()
            creators.await_more(CLIENTS)
        fleet.await_links()
        creators.compare()
