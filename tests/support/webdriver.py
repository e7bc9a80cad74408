"""Debian's Firefox and WebKitGTK, controlled with WebDriver BiDi and WebDriver."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.common.exceptions import WebDriverException
from selenium.webdriver import WebKitGTK
from selenium.webdriver.webkitgtk.options import Options
from selenium.webdriver.webkitgtk.service import Service
from urllib3.exceptions import HTTPError

from tests.support.processes import ROOT, TIMEOUT_SECONDS
from tests.support.waiting import wait_until


class Window(ABC):
    """A browser window. `downloads` is the folder of downloaded files."""

    def __init__(self, downloads: Path) -> None:
        self.downloads = downloads

    @abstractmethod
    def go(self, url: str) -> None:
        """Open a URL."""

    @abstractmethod
    def run(self, script: str, *arguments: object) -> Any:
        """Run the body of a function in the page; return its result."""

    @abstractmethod
    def click(self, script: str, *arguments: object) -> bool:
        """Click the element that a script returns. Return whether it returned one."""

    @abstractmethod
    def type(self, text: str, script: str, *arguments: object) -> bool:
        """Replace the text of the field that a script returns. Return whether it returned one."""

    def fill(self, label: str, text: str) -> None:
        """Replace the text of the first field whose label begins with `label`, once it exists."""
        wait_until(lambda: self.type(text, _FIELD, label))

    def press(self, name: str) -> None:
        """Click the first button whose name begins with `name`, once it exists."""
        wait_until(lambda: self.click(_BUTTON, name))

    @property
    def url(self) -> str:
        return str(self.run("return location.href"))

    @property
    def text(self) -> str:
        """The visible text of the page, without line breaks."""
        return str(self.run("return document.body?.innerText ?? ''")).replace("\n", "")

    def await_text(self, text: str) -> None:
        """Wait until the page shows a text."""
        wait_until(lambda: text in self.text)

    def await_title(self, text: str) -> None:
        """Wait until the page's title contains a text.

        Then the page has its own fields and no others. The path alone changes before the code of
        the new page is loaded.
        """
        wait_until(lambda: text in self.run("return document.title"))

    def await_path(self, path: str) -> None:
        """Wait until the page has this path."""
        wait_until(lambda: self.run("return location.pathname") == path)


_FIELD = """
const named = (field) => field.labels?.[0]?.textContent ?? field.ariaLabel ?? '';
return [...document.querySelectorAll('input, textarea')]
  .find((field) => named(field).trim().startsWith(arguments[0])
    && field.checkVisibility({visibilityProperty: true}));
"""
_BUTTON = """
return [...document.querySelectorAll('button')]
  .find((one) => (one.ariaLabel ?? one.innerText).trim().startsWith(arguments[0])
    && one.checkVisibility({visibilityProperty: true}));
"""


class _Firefox(Window):
    def __init__(self, process: subprocess.Popen[str], downloads: Path) -> None:
        super().__init__(downloads)
        self._process = process

    def _ask(self, act: str, **what: object) -> Any:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"do": act, **what}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        assert "error" not in answer, answer
        return answer["value"]

    def go(self, url: str) -> None:
        self._ask("go", url=url)

    def run(self, script: str, *arguments: object) -> Any:
        return self._ask("run", script=script, args=arguments)

    def click(self, script: str, *arguments: object) -> bool:
        is_there: bool = self._ask("find", script=script, args=arguments)
        if is_there:
            self._ask("click")
        return is_there

    def type(self, text: str, script: str, *arguments: object) -> bool:
        is_there: bool = self._ask("find", script=script, args=arguments)
        if is_there:
            self._ask("type", text=text)
        return is_there


@contextmanager
def firefox(folder: Path) -> Iterator[Window]:
    """Yield Firefox from the PATH. Raises FileNotFoundError with the command that installs it."""
    program = _program("firefox-esr", "firefox", package="firefox-esr")
    command = ["node", str(ROOT / "web" / "test" / "firefox.mjs"), program, str(folder)]
    with (
        (folder / "firefox.log").open("wb") as log,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            yield _Firefox(process, folder)
        finally:
            assert process.stdin
            process.stdin.close()
            _end(process)


class _WebKit(Window):
    def __init__(self, driver: WebKitGTK, downloads: Path) -> None:
        super().__init__(downloads)
        self._driver = driver

    def go(self, url: str) -> None:
        self._driver.get(url)

    def run(self, script: str, *arguments: object) -> Any:
        return self._driver.execute_script(script, *arguments)

    def click(self, script: str, *arguments: object) -> bool:
        if element := self.run(script, *arguments):
            element.click()
        return bool(element)

    def type(self, text: str, script: str, *arguments: object) -> bool:
        if element := self.run(script, *arguments):
            element.clear()
            element.send_keys(text)
        return bool(element)


@contextmanager
def webkit(folder: Path) -> Iterator[Window]:
    """Yield WebKitGTK on a virtual screen. Raises FileNotFoundError as `firefox` does."""
    program = _program("WebKitWebDriver", package="webkit2gtk-driver")
    with _screen() as display:
        # It saves downloads in the home directory.
        env = {**os.environ, "DISPLAY": display, "HOME": str(folder), "GDK_BACKEND": "x11"}
        driver = _webkit_driver(program, str(folder / "webkit.log"), env)
        try:
            yield _WebKit(driver, folder)
        finally:
            driver.quit()


_STARTS = 3
"""How often WebKit's driver is started at most."""


def _webkit_driver(program: str, log: str, env: Mapping[str, str]) -> WebKitGTK:
    """Start WebKit's driver and a window.

    On a busy machine, the window sometimes never reports to the driver, which then never answers.
    Such a driver is killed, and another one started.
    """
    for left in reversed(range(_STARTS)):
        service = Service(program, log_output=log, env=env)
        killing = threading.Timer(TIMEOUT_SECONDS, lambda own=service: own.process.kill())
        killing.start()
        try:
            return WebKitGTK(options=Options(), service=service)
        except (HTTPError, WebDriverException):
            if not left:
                raise
        finally:
            killing.cancel()
    raise AssertionError


@contextmanager
def _screen() -> Iterator[str]:
    """Start a virtual X display; yield its name."""
    told, tells = os.pipe()
    command = [_program("Xvfb", package="xvfb"), "-displayfd", str(tells), "-nolisten", "tcp"]
    command += ["-screen", "0", "1280x1000x24"]
    with subprocess.Popen(command, pass_fds=[tells], stderr=subprocess.DEVNULL) as server:
        os.close(tells)
        with os.fdopen(told) as line:
            number = line.readline().strip()
        try:
            yield f":{number}"
        finally:
            server.terminate()
            _end(server)


def _end(process: subprocess.Popen[Any]) -> None:
    """Wait for the end of a process that was asked to stop. Kill it, and raise, if it does not."""
    try:
        process.wait(TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def _program(*names: str, package: str) -> str:
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise FileNotFoundError(f"There is no {names[0]}; on Debian: apt-get install {package}")
    return found
