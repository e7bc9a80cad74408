"""The command `atajo` over a data folder, as an operator calls it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.processes import PYTHON_PATH, ROOT, TIMEOUT_SECONDS


def atajo(
    data: Path,
    *arguments: str | Path,
    settings: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    """Run `python -m deploy.local` with the arguments of a command.

    `by` is the beginning of a command that starts it, if there is one in between.
    """
    return subprocess.run(
        [*by, sys.executable, "-m", "deploy.local", *arguments],
        cwd=ROOT,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": PYTHON_PATH,
            "ATAJO_DATA_DIR": str(data),
            **(settings or {}),
        },
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        umask=0,
        check=False,
    )


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """Return the one line of a command that failed."""
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    return done.stderr
