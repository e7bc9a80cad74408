"""Servers that end with the one who started them."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_PATIENCE = 30.0
"""Seconds from the start of a server until it must answer."""
# The shell ends what it runs when its own input ends: when we do, however that comes. Ctrl-C of a
# terminal is left to us.
_HELD = 'trap "" INT; exec 3<&0; "$@" 3<&- & child=$!; (cat <&3; kill $child) & wait $child'


class Held:
    """A running server, whose output goes to `log`.

    Raises SystemExit with its last words where it ends before `is_ready`, or never is.
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
                ["/bin/sh", "-c", _HELD, "sh", *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=env,
            )
        deadline = time.monotonic() + _PATIENCE
        while not is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                last = log.read_text(errors="replace").strip()[-500:]
                raise SystemExit(f"{command[0]} did not start: {last}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it and wait until it has."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
