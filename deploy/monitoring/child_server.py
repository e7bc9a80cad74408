"""A server process that ends with this process, even if this process is killed."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_START_TIMEOUT = 30.0
"""Seconds from the start of a server until it must be ready."""
# The shell's input is a pipe from this process. When it closes, the shell kills the server. The
# shell ignores Ctrl-C; this process handles it.
_SCRIPT = 'trap "" INT; exec 3<&0; "$@" 3<&- & child=$!; (cat <&3; kill $child) & wait $child'


class ChildServer:
    """A running server with its output in the file `log`.

    The constructor returns once `is_ready()`. It raises SystemExit with the last output if the
    server ends before that, or is not ready after 30 seconds.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        is_ready: Callable[[], bool],
        env: Mapping[str, str] | None = None,
    ) -> None:
        with log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603
                ["/bin/sh", "-c", _SCRIPT, "sh", *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=env,
            )
        deadline = time.monotonic() + _START_TIMEOUT
        while not is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                last = log.read_text(errors="replace").strip()[-500:]
                raise SystemExit(f"{command[0]} did not start: {last}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop the server and wait for its end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
