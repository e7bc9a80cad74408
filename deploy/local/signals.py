"""The signals that end a run, from the first instruction of its process on."""

from __future__ import annotations

import os
import signal

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_at_signals() -> None:
    """End this process at the signals, until an event loop handles them.

    In a container it is process 1, for which Linux ignores signals without a handler. Nothing has
    been started that must be stopped: forked processes end when they see that this one has ended.
    """
    for number in ENDING_SIGNALS:
        if not is_ignored(number):
            signal.signal(number, lambda _number, _frame: os._exit(0))


def is_ignored(number: signal.Signals) -> bool:
    """Return whether a signal is to be ignored: `nohup` asks for that."""
    return number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN
