"""The drills of `make drill`."""

from __future__ import annotations

import pytest

from deploy.monitoring.prometheus import rules
from tests.deployment.monitoring.drill import DRILLS, carry_out
from tests.deployment.monitoring.rules import alerts
from tests.deployment.monitoring.short import shortened


def test_every_alert_is_drilled() -> None:
    drilled = {name for drill in DRILLS for name in drill.must}
    assert drilled == {alert.name for alert in alerts()}


def test_every_window_has_a_short_one() -> None:
    assert shortened(rules("")) != rules("")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_all_drills() -> None:
    assert not [outcome for outcome in carry_out(DRILLS) if outcome.faults]
