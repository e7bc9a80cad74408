"""Monitors a running `make run` with Prometheus: `python -m deploy.monitoring`.

Rules, dashboards and runbooks are those of a deployment. It can be started before the run and
continues through its restarts. Ctrl-C stops everything that it started.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import webbrowser
from contextlib import ExitStack
from pathlib import Path

from pydantic import Field

from deploy.local import caller
from deploy.local.folder import UMASK
from deploy.local.settings import RunSettings, check_port_free
from deploy.monitoring.grafana_server import find_command, run_grafana
from deploy.monitoring.page import Page
from deploy.monitoring.prometheus import Prometheus, rules
from services.shared import supervisor

_EVERY = 1.0


class MonitorSettings(RunSettings):
    """Settings of the monitor, in addition to those of the run."""

    monitor_port: int = Field(default=9090, ge=1, le=65535)
    """Port of Prometheus, on loopback."""


def main() -> None:
    # A shell starts background processes with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    settings = MonitorSettings.load()
    os.umask(UMASK)
    check_port_free("127.0.0.1", settings.monitor_port, "ATAJO_MONITOR_PORT")
    folder = settings.data_dir / "monitoring"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(KeyboardInterrupt), ExitStack() as stack:
        page = stack.enter_context(Page())
        prometheus = Prometheus(folder, settings.monitor_port, rules(page.runbooks))
        prometheus.look_at({})
        stack.enter_context(prometheus)
        grafana = None
        if command := find_command():
            running = run_grafana(
                command, folder / "grafana", _free_port(), prometheus.url, page.runbooks
            )
            grafana = stack.enter_context(running)
        page.show(prometheus.pages(), grafana)
        _tell(page.url, prometheus.url, grafana)
        asyncio.run(_follow(settings.data_dir, prometheus))


def _tell(page: str, prometheus: str, grafana: str | None) -> None:
    _say(f"Look at {page} (Prometheus: {prometheus}, Grafana: {grafana or 'none here'})")
    if sys.stdout.isatty() and (os.environ.get("DISPLAY") or sys.platform == "darwin"):
        webbrowser.open(page)


async def _follow(data: Path, prometheus: Prometheus) -> None:
    """Scrape the processes that run on the data folder, until a signal."""
    stop = supervisor.stop_event()
    following = asyncio.create_task(caller.follow())
    known: dict[str, str] | None = {}
    while not stop.is_set():
        found = _processes(data)
        if found is None and known is not None:
            _say(f"Atajo does not run over {data} just now.")
        # Keep scraping processes that have stopped, so that their absence is visible.
        if found is not None and found != known:
            prometheus.look_at(found)
        known = found
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), _EVERY)
    following.cancel()


def _processes(data: Path) -> dict[str, str] | None:
    """Return the metrics address of each process of the run, or None if there is no run."""
    try:
        state = json.loads((data / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return {name: process["metrics"] for name, process in state["processes"].items()}


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    main()
