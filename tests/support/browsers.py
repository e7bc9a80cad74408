"""Starts Chromium with Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from playwright.sync_api import Browser, Playwright, expect, sync_playwright

from tests.support.processes import TIMEOUT_SECONDS

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SHELL = "chromium-headless-shell"
"""Debian's Chromium without a user interface: pages take half the processor time."""


def chromium() -> str | None:
    """Return the path of a Chromium on the PATH, if there is one."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


@contextmanager
def driver() -> Iterator[Playwright]:
    """Yield Playwright, run by the installed Node.js: its own needs libatomic, which is rare."""
    expect.set_options(timeout=1000 * TIMEOUT_SECONDS)
    own = sync_playwright()
    # Playwright reads the variable at its start. It must not remain: fork servers
    # (`tests.support.fork_server`) are shared by processes with the same environment.
    with patch.dict(os.environ):
        if node := shutil.which("node"):
            os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", node)
        playwright = own.start()
    try:
        yield playwright
    finally:
        # Its event loop would remain in this thread, and fail every later asynchronous test.
        playwright.stop()


@contextmanager
def running_chromium(*flags: str, shell: bool = True) -> Iterator[Browser]:
    """Yield Chromium from the PATH, or Playwright's own, started with `flags`.

    Prefers the headless shell, unless `shell` is false.
    """
    path = (shutil.which(_SHELL) if shell else None) or chromium()
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with driver() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--disable-gpu", "--in-process-gpu", *sandbox, *flags]
        )
        try:
            yield browser
        finally:
            browser.close()
