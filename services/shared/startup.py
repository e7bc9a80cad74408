"""How the operating system and Python run this process, and the last step of its startup."""

from __future__ import annotations

import gc
import os
from pathlib import Path

from services.shared import supervisor
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


def finish(**endpoints: str) -> None:
    """Report and log the endpoints that this process serves, and collect less garbage.

    Objects that exist by then live until the process ends, so they are excluded from garbage
    collection. Later objects are rarely part of a cycle. With Python's default, a collection after
    every 700 new objects, the collector took a twentieth of the cost of a redirect.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    supervisor.report_ready(endpoints)
    log.info("serving", **endpoints)
