"""Picks free TCP ports."""

from __future__ import annotations

import os
import random
import socket

_FIRST_PORT, _WORKERS, _PORTS_PER_WORKER = 10_000, 8, 2_750
"""Below the ephemeral ports of Linux, which begin at 32,768."""
_given: set[int] = set()


def free_port() -> int:
    """Return a port on which nobody listens, a different one each time.

    It is not an ephemeral port, which the system could assign to a connection before the caller
    listens on it. Each worker of a test run has its own range.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
    first = _FIRST_PORT + worker * _PORTS_PER_WORKER
    while True:
        port = random.SystemRandom().randrange(first, first + _PORTS_PER_WORKER)
        if port in _given:
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        if len(_given) > _PORTS_PER_WORKER // 2:  # The earliest ones are free again.
            _given.clear()
        return port
