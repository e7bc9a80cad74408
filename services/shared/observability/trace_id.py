"""The id of the current trace, for log lines. It is empty while tracing is off.

Separate from `tracing` so that `logs` need not import gRPC.
"""

from __future__ import annotations

from collections.abc import Callable

_read: Callable[[], str] | None = None


def set_source(read: Callable[[], str]) -> None:
    """Let `read` return the current id from now on."""
    global _read
    _read = read


def current() -> str:
    """Return the id of the current trace if it is sampled, otherwise an empty string."""
    return _read() if _read else ""
