"""What a process loads for the store that it runs on."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.processes import ROOT


@pytest.mark.parametrize("service", ["auth", "links", "analytics", "reconciler"])
def test_a_service_over_sqlite_loads_no_driver_of_another_database(service: str) -> None:
    look = f"import sys, services.{service}.__main__; print('pymongo' in sys.modules)"
    path = f"{ROOT}:{ROOT}/proto/gen"
    run = [sys.executable, "-c", look]
    done = subprocess.run(
        run, cwd=ROOT, env={"PYTHONPATH": path}, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("False\n", "")
