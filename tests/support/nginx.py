"""nginx with the built pages in front of a gateway, started as in its image."""

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
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from types import TracebackType
from typing import Self

import httpx

from tests.support.ports import free_port
from tests.support.processes import NO_TLS, ROOT, TIMEOUT_SECONDS, Process
from tests.support.procfs import children_of
from tests.support.product import SERVICES, Product

START = ROOT / "deploy" / "nginx" / "start.sh"
BUILT = ROOT / "web" / "dist"


class Nginx:
    """nginx with its own folder. As a context manager it runs during the block.

    `gateway` is the host:port to which it forwards function calls and short URLs.
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
            "ATAJO_WEB_DIR": str(_web_root()),
            "ATAJO_PUBLIC_URL": public_url,
            "ATAJO_GATEWAY": gateway,
            "ATAJO_LISTEN": self.address,
            "ATAJO_METRICS_LISTEN": self.metrics_url.removeprefix("http://"),
            **(settings or {}),
        }

    def run(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the script with additional arguments for nginx."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("ATAJO_")}
        # Debian's nginx switches from root to a user who cannot read the folders of a test.
        user = ("-g", "user root;") if os.geteuid() == 0 else ()
        return subprocess.Popen(
            [str(self.script), *user, *arguments],
            env={**inherited, **self._env},
            stderr=subprocess.PIPE,
            text=True,
        )

    def start(self) -> None:
        """Start nginx and wait until it serves. Raises FileNotFoundError if it is not installed."""
        require_nginx()
        self._process = self.run()
        deadline = time.monotonic() + TIMEOUT_SECONDS
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
        return self._process.communicate(timeout=TIMEOUT_SECONDS)[1]

    def pids(self) -> list[int]:
        """The process and its workers."""
        return [self._process.pid, *children_of(self._process.pid)]

    def kill(self) -> None:
        """End it, its workers too, with SIGKILL."""
        workers = children_of(self._process.pid)
        self._process.kill()
        for pid in workers:
            with suppress(ProcessLookupError):  # A worker ends by itself once its master is gone.
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
    """Copy nginx's configuration with replaced patterns; return the start script of the copy."""
    copy = shutil.copytree(START.parent, folder / "nginx")
    config = copy / "nginx.conf"
    text = config.read_text(encoding="utf-8")
    for pattern, value in replacements:
        text, number = re.subn(pattern, value, text)
        assert number
    config.write_text(text, encoding="utf-8")
    return copy / START.name


def start_gateway(
    product: Product,
    folder: Path,
    settings: Mapping[str, str] | None = None,
    module: str = "gateway",
) -> Process:
    """Start another gateway for the services of a product. It trusts nginx's X-Forwarded-For."""
    folder.mkdir(exist_ok=True)
    env = {
        "ATAJO_ENVIRONMENT": "local",
        "ATAJO_PUBLIC_URL": product.url,
        "ATAJO_METRICS_LISTEN": "127.0.0.1:0",
        "ATAJO_JOURNAL_DIR": str(folder / "journal"),
        "ATAJO_TRUSTED_PROXIES": "127.0.0.1/32",
        **{f"ATAJO_{name.upper()}_ADDRESS": product.target(name) for name in SERVICES},
        **(settings or {}),
    }
    return Process.start(module, env, folder / "gateway.log")


def require_nginx() -> None:
    """Raise FileNotFoundError with the command that installs nginx if it is missing."""
    if not shutil.which("nginx"):
        packages = "nginx-light libnginx-mod-stream"
        raise FileNotFoundError(f"There is no nginx; on Debian: apt-get install {packages}")


@cache
def _web_root() -> Path:
    """Return the web root as in the image. It is built once per run; nginx only reads it."""
    if not (BUILT / "index.html").exists():
        raise FileNotFoundError("The pages are not built: make web/dist/index.html")
    folder = Path(mkdtemp(prefix="atajo-web-"))
    atexit.register(shutil.rmtree, folder)
    # Without third-party packages, as in the image.
    command = (sys.executable, "-S", "-m", "gateway.nginx.webroot", str(BUILT), str(folder / "web"))
    subprocess.run(command, cwd=ROOT, check=True)
    return folder / "web"
