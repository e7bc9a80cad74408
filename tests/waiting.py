"""Waiting for what another process does, of which it sends no word."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.processes import PATIENCE


def await_that(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Return once `condition` holds; fails where it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not so within {seconds} s"
        time.sleep(0.02)
