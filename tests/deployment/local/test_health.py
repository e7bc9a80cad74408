"""`atajo health`: whether every process of a run is ready."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.deployment.local.test_run import LocalRun
from tests.support.processes import PYTHON_PATH, ROOT
from tests.support.product import PROCESSES
from tests.support.waiting import RECOVERY_SECONDS, wait_until

HEALTH_SECONDS = 3.0
"""Seconds within which the processes must answer."""


def ask(data: Path, *options: str, **env: str) -> tuple[int, str, str]:
    """Call the command. Return its exit code and output."""
    done = subprocess.run(
        [sys.executable, "-m", "deploy.local", *options, "health"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": PYTHON_PATH, **data_dir(data), **env},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def data_dir(data: Path) -> dict[str, str]:
    return {"ATAJO_DATA_DIR": str(data)}


def ask_json(data: Path) -> tuple[int, Any]:
    code, stdout, stderr = ask(data, "--json")
    assert stderr == ""
    return code, json.loads(stdout)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRun]:
    """Return a run that no test stops."""
    with LocalRun.ready(tmp_path_factory.mktemp("health")) as run:
        wait_until(lambda: ask(run.data)[0] == 0, RECOVERY_SECONDS)
        yield run


@contextmanager
def suspended(*pids: int) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def test_a_run_that_serves_is_healthy(running: LocalRun, tmp_path: Path) -> None:
    assert ask(running.data) == (0, "Atajo is ready.\n", "")
    processes = dict.fromkeys(PROCESSES, "ready")
    assert ask_json(running.data) == (0, {"ready": True, "processes": processes})
    (tmp_path / "name").write_text(f"{running.data}\n")
    named = {"ATAJO_DATA_DIR": "", "ATAJO_DATA_DIR_FILE": str(tmp_path / "name")}
    assert ask(running.data, **named) == (0, "Atajo is ready.\n", "")


def test_processes_that_do_not_answer_are_named(running: LocalRun) -> None:
    with suspended(running.pid("auth"), running.pid("reconciler")):
        started = time.monotonic()
        code, stdout, stderr = ask(running.data)
        assert time.monotonic() - started < HEALTH_SECONDS + 5
    assert (code, stdout) == (1, "")
    silent = "it does not answer"
    assert stderr == f"Atajo is not ready. auth: {silent}, reconciler: {silent}.\n"


def test_a_process_without_its_store_is_named(tmp_path: Path) -> None:
    with LocalRun.ready(tmp_path) as run:
        (tmp_path / "links.sqlite3").rename(tmp_path / "away")
        wait_until(lambda: ask(tmp_path)[0] == 1, RECOVERY_SECONDS)
        line = "Atajo is not ready. links: store STORE_FILE_GONE.\n"
        assert ask(tmp_path) == (1, "", line)
        code, document = ask_json(tmp_path)
        assert code == 1
        states = dict.fromkeys(PROCESSES, "ready") | {"links": "store STORE_FILE_GONE"}
        assert document == {"ready": False, "processes": states}
        run.popen.kill()
        run.popen.wait()
        run.await_children_end(RECOVERY_SECONDS)
        # A killed run leaves its state file.
        code, _, stderr = ask(tmp_path)
        assert (code, stderr.count("it does not answer")) == (1, len(PROCESSES))


@pytest.mark.parametrize("state", [None, "", "[]", '{"processes": {"auth": {}}}', "\xff"])
def test_without_a_run_it_is_one_line(tmp_path: Path, state: str | None) -> None:
    if state is not None:
        (tmp_path / "run.json").write_text(state, encoding="latin-1")
    line = f"Atajo does not run over {tmp_path}, or has not started yet.\n"
    assert ask(tmp_path) == (1, "", line)
    assert ask_json(tmp_path) == (1, {"ready": False, "processes": {}})


def test_it_imports_little(running: LocalRun) -> None:
    """It is called every few seconds, on the processor that serves."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "deploy.local", "health"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": PYTHON_PATH, **data_dir(running.data)},
        capture_output=True,
        text=True,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "deploy.local.health" in imported
    assert not imported & {"asyncio", "pydantic", "grpc", "argparse", "urllib.request", "httpx"}
