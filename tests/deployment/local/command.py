"""The command `atajo` over a data folder, as an operator calls it, and its interruption."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.support.processes import PYTHON_PATH, ROOT, TIMEOUT_SECONDS

SMALL_FILES = ("bash", "-c", 'ulimit -f 8; exec "$@"', "bash")
"""Prefix of a command that can write 8 KiB in each file, as if the disk were full then."""


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


def killed(at: int, act: Callable[[], object]) -> bool:
    """Act in a process that is killed before it touches a file or folder for the n-th time.

    Returns whether it lived that long.
    """
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    touched = 0

    def count(event: str, _: object) -> None:
        nonlocal touched
        if event.partition(".")[0] in ("open", "os", "shutil", "sqlite3"):
            touched += 1
            if touched == at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    try:
        act()
    except BaseException:
        os._exit(1)
    os._exit(0)
