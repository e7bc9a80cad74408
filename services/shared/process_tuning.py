"""Adjusts how the operating system and Python run this process."""

from __future__ import annotations

import gc
import os
from pathlib import Path

from services.shared.observability import logs

log = logs.get(__name__)

_NICENESS = 5
"""Where this process competes for a core with one of niceness 0, it gets a quarter of the time."""
_AUTOGROUP = Path("/proc/self/autogroup")


def lower_priority() -> None:
    """Let processes that answer users run first where they share a processor with this one.

    Call it before the first thread starts: a thread inherits the niceness of its creator.
    """
    os.nice(_NICENESS)
    # Linux may divide the processor between sessions first. In `make run`, each process is one.
    if os.getsid(0) == os.getpid() and _AUTOGROUP.exists():
        try:
            _AUTOGROUP.write_text(str(_NICENESS))
        except OSError as error:  # The session then keeps its normal share.
            log.info("autogroup_not_niced", error=str(error))


def tune_garbage_collector() -> None:
    """Exclude all current objects from garbage collection, and collect less often.

    Call it at the end of startup. Objects that exist by then live until the process ends. Later
    objects are rarely part of a cycle. With Python's default, a collection after every 700 new
    objects, the collector took a twentieth of the cost of a redirect.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
