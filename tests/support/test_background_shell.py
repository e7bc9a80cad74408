"""The tests themselves, started by a script with `&`."""

from __future__ import annotations

import subprocess
import sys

from tests.support.processes import BACKGROUND_SHELL, ROOT


def test_processes_of_the_tests_receive_signals_of_the_terminal() -> None:
    one = "tests/deployment/nginx/test_start.py::test_a_signal_ends_the_wait_for_a_name"
    tests = subprocess.run(
        [*BACKGROUND_SHELL, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", one],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert tests.returncode == 0, tests.stdout
