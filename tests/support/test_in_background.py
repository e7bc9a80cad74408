"""The tests themselves, as a script starts them with `&`."""

from __future__ import annotations

import subprocess
import sys

from tests.support.processes import IN_BACKGROUND, ROOT


def test_what_the_tests_start_hears_a_terminals_signals_there_too() -> None:
    one = "tests/deployment/nginx/test_start.py::test_who_waits_for_a_name_can_be_told_to_stop"
    tests = subprocess.run(
        [*IN_BACKGROUND, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", one],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert tests.returncode == 0, tests.stdout
