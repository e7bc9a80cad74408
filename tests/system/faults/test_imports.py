"""Each row of an import has one link, under kills and with two tabs that send the same rows."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.system.faults.caller import Caller
from tests.system.faults.fleet import STORES, fleet_on
from tests.system.faults.importers import TABS, Importers

_LONGEST = 0.05
"""Maximum seconds until a kill. A call takes less."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("store", STORES)
def test_each_row_has_one_link_whatever_is_killed(tmp_path: Path, store: str, kills: int) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 - shown where it fails
    chance = random.Random(seed)
    with fleet_on(store, tmp_path) as fleet, ThreadPoolExecutor(1) as pool:

        def kill_some() -> None:
            time.sleep(chance.uniform(0, _LONGEST))
            victims = chance.choice([("links",), ("gateway",), ("links", "gateway")])
            fleet.strike(*victims)
            for victim in victims:
                fleet.rise(victim)

        fleet.start()
        token = fleet.log_in(fleet.register())
        with Importers(fleet, token) as importers:
            importers.await_more(TABS)
            while fleet.kills < kills:
                importers.await_more(chance.randint(1, 5))
                kill_some()
                fleet.await_all()
            importers.await_more(TABS)
        importers.compare()

        undoing = pool.submit(importers.undo)
        kill_some()
        assert undoing.result() == importers.rows
        fleet.await_all()
        with closing(Caller(fleet)) as caller:
            assert caller.owned({"token": token}) == {}
        assert importers.undo() == importers.rows
