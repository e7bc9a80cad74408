"""MongoDB elects a new primary under load: nothing acknowledged is lost or counted twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.load_generator import Load
from tests.system.faults.fleet import fleet_on
from tests.system.faults.run import compare


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_primary_steps_down_and_dies_under_load(tmp_path: Path) -> None:
    with fleet_on("mongodb", tmp_path, nodes=3) as fleet:
        fleet.start()
        database = fleet.database
        assert database is not None
        token = fleet.log_in(fleet.register())
        codes = [fleet.shorten(f"https://example.com/{n}", token) for n in range(10)]
        with Load(fleet, token, codes, visitors=3, makers=2, owners=1, members=1) as load:
            for _ in range(2):
                load.await_more(visits=100, created=10)
                database.step_down()
                load.await_more(visits=100, created=10)
                database.kill_primary()
                load.await_more(visits=100, created=10)
                database.restart()
        fleet.await_links()
        compare(fleet, token, load)
