"""The id of the trace in hand, for log lines, told by whoever traces; without traces none."""

from __future__ import annotations

from collections.abc import Callable

_read: Callable[[], str] | None = None


def read_from(read: Callable[[], str]) -> None:
    """Let `read` tell the current id from here on."""
    global _read
    _read = read


def current() -> str:
    """The id of the trace in hand where that is sampled, else an empty string."""
    return _read() if _read else ""
