"""nginx with the built pages in front of a gateway, started as its image starts it."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import Self

import httpx

from tests.support.processes import NO_TLS, PATIENCE, ROOT, Process
from tests.support.procfs import children_of
from tests.support.product import SERVICES, Product, free_port

START = ROOT / "deploy" / "nginx" / "start.sh"
BUILT = ROOT / "web" / "dist"


class Web:
    """nginx over a folder of its own. As a context manager it runs from beginning to end.

    `gateway` is the host:port it hands calls and codes to.
    """

    def __init__(
        self,
        folder: Path,
        gateway: str,
        public_url: str,
        *,
        port: int = 0,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.address = f"127.0.0.1:{port or free_port()}"
        self.url = f"http://{self.address}"
        self.metrics_url = f"http://127.0.0.1:{free_port()}"
        self.folder = folder
        self.script = START
        self._env = {
            "TMPDIR": str(folder),
            "ATAJO_WEB_DIR": str(_laid_out()),
            "ATAJO_PUBLIC_URL": public_url,
            "ATAJO_GATEWAY": gateway,
            "ATAJO_LISTEN": self.address,
            "ATAJO_METRICS_LISTEN": self.metrics_url.removeprefix("http://"),
            **(settings or {}),
        }

    def run(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the script, with further arguments for nginx."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("ATAJO_")}
        # Debian's nginx gives up root for a user who cannot read a test's folders.
        user = ("-g", "user root;") if os.geteuid() == 0 else ()
        return subprocess.Popen(
            [str(self.script), *user, *arguments],
            env={**inherited, **self._env},
            stderr=subprocess.PIPE,
            text=True,
        )

    def start(self) -> None:
        """Start nginx and wait until it serves. Raises FileNotFoundError where there is none."""
        need_nginx()
        self._process = self.run()
        deadline = time.monotonic() + PATIENCE
        while not self._is_ready():
            if self._process.poll() is not None:
                raise RuntimeError(f"nginx ended:\n{self._process.communicate()[1]}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"nginx does not serve:\n{self.stop()}")
            time.sleep(0.01)

    def _is_ready(self) -> bool:
        try:
            return httpx.get(
                f"{self.metrics_url}/metrics", trust_env=False, verify=NO_TLS
            ).is_success
        except httpx.TransportError:
            return False

    def stop(self) -> str:
        """Stop it in good order; returns what it wrote to standard error."""
        self._process.terminate()
        return self._process.communicate(timeout=PATIENCE)[1]

    def pids(self) -> list[int]:
        """The process and its workers."""
        return [self._process.pid, *children_of(self._process.pid)]

    def kill(self) -> None:
        """End it, its workers too, with SIGKILL."""
        for pid in self.pids():
            os.kill(pid, signal.SIGKILL)
        self._process.communicate()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self.stop()


def edited(folder: Path, *replacements: tuple[str, str]) -> Path:
    """The script of a copy of nginx's configuration with other values, patterns replaced."""
    copy = shutil.copytree(START.parent, folder / "nginx")
    config = copy / "nginx.conf"
    text = config.read_text(encoding="utf-8")
    for pattern, value in replacements:
        text, number = re.subn(pattern, value, text)
        assert number
    config.write_text(text, encoding="utf-8")
    return copy / START.name


def gateway_beside(
    product: Product,
    folder: Path,
    settings: Mapping[str, str] | None = None,
    module: str = "gateway",
) -> Process:
    """One more gateway over the services of a product, which believes what nginx tells it."""
    folder.mkdir(exist_ok=True)
    env = {
        "ATAJO_ENVIRONMENT": "local",
        "ATAJO_PUBLIC_URL": product.url,
        "ATAJO_METRICS_LISTEN": "127.0.0.1:0",
        "ATAJO_JOURNAL_DIR": str(folder / "journal"),
        "ATAJO_TRUSTED_PROXIES": "127.0.0.1/32",
        **{f"ATAJO_{name.upper()}_ADDRESS": product.address(name) for name in SERVICES},
        **(settings or {}),
    }
    return Process.start(module, env, folder / "gateway.log")


def need_nginx() -> None:
    """Raises FileNotFoundError with the line that installs what is missing."""
    if not shutil.which("nginx"):
        packages = "nginx-light libnginx-mod-stream"
        raise FileNotFoundError(f"There is no nginx; on Debian: apt-get install {packages}")


@cache
def _laid_out() -> Path:
    """The built pages as the image has them, laid out once a run; nginx only reads them."""
    if not (BUILT / "index.html").exists():
        raise FileNotFoundError("The pages are not built: make web/dist/index.html")
    folder = Path(mkdtemp(prefix="atajo-web-"))
    atexit.register(shutil.rmtree, folder)
    # Without packages, as the image does it.
    command = (sys.executable, "-S", "-m", "gateway.nginx.webroot", str(BUILT), str(folder / "web"))
    subprocess.run(command, cwd=ROOT, check=True)
    return folder / "web"
