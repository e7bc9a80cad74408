"""Waiting for what another process does, of which it sends no word."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.support.processes import PATIENCE

SETTLED = 20.0
"""Seconds within which all is well again, and every visit counted, once all parts are up. It is a
promise, and with leeway: a gateway that finds analytics away pauses for some seconds."""

CHANGED = 5.0
"""Seconds within which a change of a link holds on every gateway, while links answers or after its
return. It is a promise."""


def await_that(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Return once `condition` holds; fails where it does not in time.

    What the product promises to do by itself has a bound of its own; the default is for a start.
    """
    begun = time.monotonic()
    while not condition():
        waited = time.monotonic() - begun
        assert waited < seconds, f"not so within {seconds} s"
        # Looking is work, too, on the machine on which it is to become so.
        time.sleep(min(0.02 + waited / 20, 0.1))
