"""Failures of background work are logged and counted, and stop the process."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from services.shared import background
from services.shared.errors import Unavailable
from services.shared.observability import logs
from tests.support.processes import Process

MAIN = """
import asyncio
from services.shared import background
from services.shared.observability import logs
from services.shared import supervisor

async def serve() -> None:
    stop = supervisor.stop_event()
    background.stop_on_failure(stop)
    task = background.start_task(work(), "work")
    supervisor.report_ready({})
    await stop.wait()
    task.cancel()
    logs.get("main").info("stopped")

logs.configure("test", "info")
asyncio.run(serve())
background.exit_if_failed()
"""
FAILS = "async def work() -> None:\n    {}['nothing']\n"
RUNS_FOREVER = "async def work() -> None:\n    await asyncio.Event().wait()\n"
RETURNS = "async def work() -> None:\n    pass\n"
FAILS_IN_THREAD = """
async def work() -> None:
    def broken() -> None:
        background.report_failure("thread", ValueError("why"))
    await asyncio.to_thread(broken)
"""


def failures(task: str) -> float:
    return REGISTRY.get_sample_value("atajo_background_failures_total", {"task": task}) or 0.0


@pytest.fixture(autouse=True)
def process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reset the state of the module."""
    monkeypatch.setattr(background, "_process", background._Process())


async def test_an_error_is_logged_with_its_traceback_counted_and_stops_the_process() -> None:
    async def work() -> None:
        raise KeyError("nothing")

    before = failures("work")
    stop = asyncio.Event()
    background.stop_on_failure(stop)
    with capture_logs() as lines:
        background.start_task(work(), "work")
        await stop.wait()
    (line,) = lines
    assert (line["event"], line["task"]) == ("background_task_failed", "work")
    assert isinstance(line["exc_info"], KeyError)
    assert failures("work") == before + 1
    with pytest.raises(SystemExit) as ended:
        background.exit_if_failed()
    assert ended.value.code == 1


async def test_the_counter_of_a_task_that_never_failed_is_zero() -> None:
    async def work() -> None:
        pass

    await background.start_task(work(), "flawless")
    counted = REGISTRY.get_sample_value("atajo_background_failures_total", {"task": "flawless"})
    assert counted == 0


async def test_a_failure_before_stop_on_failure_stops_the_process_too() -> None:
    background.report_failure("work", ValueError("why"))
    stop = asyncio.Event()
    background.stop_on_failure(stop)
    assert stop.is_set()


async def test_a_normal_end_and_a_requested_cancellation_are_no_failures() -> None:
    async def ends() -> None:
        await asyncio.sleep(0)

    async def lasts() -> None:
        await asyncio.Event().wait()

    stop = asyncio.Event()
    background.stop_on_failure(stop)
    ended, lasting, unstarted = (
        background.start_task(work(), "work") for work in (ends, lasts, lasts)
    )
    unstarted.cancel()
    await ended
    lasting.cancel()
    await asyncio.wait([lasting, unstarted])
    await asyncio.sleep(0)
    assert not stop.is_set()
    background.exit_if_failed()


async def test_an_unrequested_cancellation_is_a_failure() -> None:
    waited_for: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def work() -> None:
        await waited_for

    stop = asyncio.Event()
    background.stop_on_failure(stop)
    background.start_task(work(), "work")
    await asyncio.sleep(0)
    waited_for.cancel()
    await stop.wait()


async def test_log_errors_logs_an_error_and_does_not_raise_it() -> None:
    stop = asyncio.Event()
    background.stop_on_failure(stop)
    errors = iter([Unavailable("away", "STORE_UNAVAILABLE"), KeyError("nothing"), None])
    log = logs.Throttled("test")
    with capture_logs() as lines:
        for error in errors:
            with background.log_errors(log, "work"):
                if error:
                    raise error
    assert [(line["log_level"], line["event"], line.get("reason")) for line in lines] == [
        ("warning", "work_failed", "STORE_UNAVAILABLE"),
        ("error", "work_error", None),
    ]
    assert isinstance(lines[1]["exc_info"], KeyError)
    assert not stop.is_set()
    with pytest.raises(asyncio.CancelledError), background.log_errors(log, "work"):
        raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("work", "status"), [(FAILS, 1), (FAILS_IN_THREAD, 1), (RUNS_FOREVER, 0), (RETURNS, 0)]
)
def test_a_process_stops_in_good_order_with_an_exit_status_that_shows_a_failure(
    tmp_path: Path, work: str, status: int
) -> None:
    (tmp_path / "product.py").write_text(
        MAIN.replace("async def serve", work + "\nasync def serve")
    )
    env = {"PYTHONPATH": f"{tmp_path}:{':'.join(path for path in sys.path if path)}"}
    with Process.start("product", env, tmp_path / "log") as process:
        if status == 0:
            process.terminate()
        assert process.wait() == status
        events = [line["event"] for line in process.log_lines()]
    assert events == (["background_task_failed"] if status else []) + ["stopped"]
