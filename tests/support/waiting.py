"""Waits for conditions that other processes bring about."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from tests.support.processes import TIMEOUT_SECONDS

RECOVERY_SECONDS = 20.0
"""Promised time, with leeway, until the product has recovered and every visit is counted once all
its processes run. A gateway that cannot reach analytics pauses for some seconds."""

PROPAGATION_SECONDS = 5.0
"""Promised time until a change of a link takes effect on every gateway, from the change or from the
moment when links is available again."""


def wait_until(condition: Callable[[], bool], seconds: float = TIMEOUT_SECONDS) -> None:
    """Return once `condition` holds. Fails if it does not hold in time.

    Pass the promised time for anything that the product promises; the default is for startup.
    """
    begun = time.monotonic()
    while not condition():
        waited = time.monotonic() - begun
        assert waited < seconds, f"not so within {seconds} s"
        # Polling competes for the processor with what it waits for.
        time.sleep(min(0.02 + waited / 20, 0.1))


def extend_by_load(seconds: float) -> float:
    """Return the timeout of work that takes `seconds` alone, for a machine as busy as this one is.

    A process has its share of a core: a fifteenth of it if thirty want to run on two cores. The
    timeout is at least the default, because the load may still rise.
    """
    return max(TIMEOUT_SECONDS, seconds * os.getloadavg()[0] / (os.cpu_count() or 1))
