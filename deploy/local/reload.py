"""Runs the product with reload: `python -m deploy.local.reload`.

Vite serves the pages, reloads them in the browser, and passes calls and short URLs on to the
product on port 8080. A change of a Python source or of `deploy/edge.toml` restarts the product.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from deploy.local.settings import ROOT

PRODUCT = (sys.executable, "-m", "deploy.local")
PAGES = ("npm", "--prefix", "web", "run", "dev")
SOURCES = tuple(ROOT / name for name in ("deploy", "gateway", "services", "proto"))
_POLL_SECONDS = 0.5


def modified(folders: Iterable[Path] = SOURCES) -> dict[Path, int]:
    """Return when each source was last changed, in nanoseconds."""
    files = (
        file for folder in folders for end in ("py", "toml") for file in folder.rglob(f"*.{end}")
    )
    return {file: file.stat().st_mtime_ns for file in files if file.exists()}


def watch(pages: subprocess.Popen[bytes]) -> None:
    """Run the product, restarting it at each change, until the pages' server ends."""
    product, seen = start(PRODUCT), modified()
    try:
        while pages.poll() is None:
            time.sleep(_POLL_SECONDS)
            if (now := modified()) != seen:
                stop(product)
                product, seen = start(PRODUCT), now
    finally:
        stop(product)


def start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a process in the checkout."""
    return subprocess.Popen(command, cwd=ROOT)  # noqa: S603 - one of the two commands above.


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and wait for it."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    process.wait()


def main() -> None:
    # A SIGTERM ends it as Ctrl-C does, so that nothing keeps running.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    pages = start(PAGES)
    try:
        watch(pages)
    except KeyboardInterrupt:
        pass
    finally:
        stop(pages)


if __name__ == "__main__":
    main()
