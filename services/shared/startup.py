"""The last step of a process's startup, the same in every process."""

from __future__ import annotations

from services.shared import process_tuning, supervisor
from services.shared.observability import logs

log = logs.get(__name__)


def finish(**endpoints: str) -> None:
    """Tune the garbage collector, then report and log the endpoints that this process serves."""
    process_tuning.tune_garbage_collector()
    supervisor.report_ready(endpoints)
    log.info("serving", **endpoints)
