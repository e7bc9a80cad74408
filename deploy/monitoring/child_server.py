"""A server process that ends with this process, even if this process is killed."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

_START_TIMEOUT = 30.0
"""Seconds from the start of a server until it must be ready."""
# The shell's input is a pipe from this process. When it closes, the shell kills the server. The
# shell ignores Ctrl-C; this process handles it.
_SCRIPT = 'trap "" INT; exec 3<&0; "$@" 3<&- & child=$!; (cat <&3; kill $child) & wait $child'
http = build_opener(ProxyHandler({}))
"""Requests without a proxy."""


@contextmanager
def run_server(
    command: Sequence[str], log: Path, health: str, env: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Run a server with its output in the file `log` while the context lasts.

    Enters once the URL `health` answers. Raises SystemExit with the last output if the server ends
    before that, or does not answer within 30 seconds.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603
            ["/bin/sh", "-c", _SCRIPT, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            env=env,
        )
    assert process.stdin is not None
    try:
        deadline = time.monotonic() + _START_TIMEOUT
        while not responds(health):
            if process.poll() is not None or time.monotonic() > deadline:
                last = log.read_text(errors="replace").strip()[-500:]
                raise SystemExit(f"{command[0]} did not start: {last}")
            time.sleep(0.05)
        yield
    finally:
        process.stdin.close()
        process.wait()


def responds(url: str) -> bool:
    """Return whether a server on loopback answers a URL with success within a second."""
    try:
        with http.open(url, timeout=1):
            return True
    except OSError:
        return False
