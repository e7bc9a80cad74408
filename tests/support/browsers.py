"""The browsers that tests drive."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from playwright.sync_api import Browser, Playwright, expect, sync_playwright

from tests.support.processes import PATIENCE

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_SHELL = "chromium-headless-shell"
"""Debian's Chromium without what a window needs: pages cost half the processor time in it."""


def chromium() -> str | None:
    """A Chromium of the PATH, if there is one."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


@contextmanager
def driver() -> Iterator[Playwright]:
    """Playwright, on the machine's Node: its own wants libatomic, which few machines have."""
    expect.set_options(timeout=1000 * PATIENCE)
    own = sync_playwright()
    # It looks as it starts. What is started later has the environment of what was started before,
    # and is forked from the same process (`tests.support.warm`).
    with patch.dict(os.environ):
        if node := shutil.which("node"):
            os.environ.setdefault("PLAYWRIGHT_NODEJS_PATH", node)
        playwright = own.start()
    yield playwright
    playwright.stop()


@contextmanager
def running_chromium(*flags: str, shell: bool = True) -> Iterator[Browser]:
    """Chromium of the PATH, else Playwright's own, with further flags.

    Where there is one and nothing says otherwise it is the shell.
    """
    path = (shutil.which(_SHELL) if shell else None) or chromium()
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with driver() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--disable-gpu", "--in-process-gpu", *sandbox, *flags]
        )
        yield browser
        browser.close()
