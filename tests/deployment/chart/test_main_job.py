"""What `helm test` runs, on a gateway in this process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.deployment.chart.render import CHART
from tests.support.in_process_gateway import InProcessGateway


@pytest.mark.parametrize(
    ("registration", "output"),
    [
        ("open", "was made, followed and counted once"),
        ("invite", "nobody registers without an invitation"),
        ("closed", "nobody registers without an invitation"),
    ],
)
def test_it_succeeds_whoever_may_register(tmp_path: Path, registration: str, output: str) -> None:
    with InProcessGateway(tmp_path, registration=registration) as gateway:
        assert output in run_main_job(gateway.url, registration).stdout


def test_it_fails_if_registration_is_open_against_the_value(tmp_path: Path) -> None:
    with InProcessGateway(tmp_path, registration="open") as gateway:
        assert run_main_job(gateway.url, "closed").returncode != 0


def run_main_job(origin: str, registration: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CHART / "files" / "main_job.py"), origin, registration]
    return subprocess.run(command, capture_output=True, text=True, check=False)
