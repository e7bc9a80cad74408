"""Two replicas of analytics share the visits, and one counts all while the other is away."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.waiting import RECOVERY_SECONDS, wait_until
from tests.system.faults.fleet import Fleet, fleet_on

BOTH = ("analytics", "analytics-2")
COUNTED = 'atajo_visits_counted_total{kind="person"}'


def visit_all(fleet: Fleet, codes: list[str]) -> None:
    for code in codes:
        response = fleet.http.get(
            f"{fleet.url}/{code}", headers={"user-agent": "Mozilla/5.0"}, follow_redirects=False
        )
        assert response.status_code == 302


@pytest.mark.timeout(180)
def test_the_other_replica_counts_while_one_is_killed_or_frozen(tmp_path: Path) -> None:
    with fleet_on("mongodb", tmp_path, replicas=["analytics-2"]) as fleet:
        fleet.start()
        token = fleet.log_in(fleet.register())
        codes = [fleet.shorten(f"https://example.com/{n}", token) for n in range(20)]

        def await_views(views: int) -> None:
            expected = dict.fromkeys(codes, views)
            wait_until(lambda: fleet.views(token) == expected, RECOVERY_SECONDS)

        # The gateway finds the replicas when it sends the first batch. By then, another has begun.
        for views in (1, 2, 3):
            visit_all(fleet, codes)
            await_views(views)
        counted = [fleet.metric(COUNTED, name) for name in BOTH]
        assert sum(counted) == 3 * len(codes)
        assert all(counted), "both count"

        fleet.strike("analytics-2")
        visit_all(fleet, codes)
        await_views(4)
        fleet.rise("analytics-2")
        fleet.await_all()

        fleet.freeze("analytics-2")
        visit_all(fleet, codes)
        await_views(5)
        fleet.thaw("analytics-2")
        visit_all(fleet, codes)
        await_views(6)
