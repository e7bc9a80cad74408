"""Runs the built product on a free port and in a temporary folder while something needs it.

    python -m tests.system.e2e.stage <command> [argument]...

runs a command with `{url}` in its arguments replaced by the product's address, CHROME_PATH set, and
ADMINISTRATOR_TOKEN set to a session of an administrator. The product has a further domain, and an
OpenID Connect provider that does not answer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.administrators import log_in_administrator
from tests.support.browsers import chromium
from tests.support.nginx import BUILT, Nginx
from tests.support.ports import free_port
from tests.support.processes import ROOT
from tests.support.product import Product

SETTINGS = {
    "ATAJO_CONTACT": "hello@atajo.example",
    "ATAJO_DOMAINS": "https://go.example",
    "ATAJO_OIDC_ISSUER": "http://localhost:9",
    "ATAJO_OIDC_CLIENT_ID": "atajo",
    "ATAJO_OIDC_CLIENT_SECRET": "a-secret-of-the-stage",
    "ATAJO_OIDC_NAME": "Camino",
}


def built_product(folder: Path, *, store: str = "", **settings: str) -> Product:
    """Return the product with its built pages, not started yet."""
    if not (BUILT / "index.html").exists():
        raise FileNotFoundError("The pages are not built: make web/dist/index.html")
    return Product(folder, {"ATAJO_WEB_DIR": str(BUILT), **settings}, store=store)


@contextmanager
def behind_nginx(folder: Path, *, store: str = "", **settings: str) -> Iterator[Product]:
    """Start nginx with the built pages, and return the product, which is not started yet."""
    port = free_port()
    inside = {"ATAJO_TRUSTED_PROXIES": "127.0.0.1/32", **settings}
    with (
        Product(folder, inside, store=store, front=port) as product,
        Nginx(folder, product.address("gateway"), product.url, port=port, settings=settings),
    ):
        yield product


def main(command: list[str]) -> int:
    """Run a command on the product and return its exit code."""
    env = dict(os.environ)
    if path := chromium():
        env.setdefault("CHROME_PATH", path)
    with (
        tempfile.TemporaryDirectory(prefix="atajo-") as folder,
        built_product(Path(folder), **SETTINGS) as product,
    ):
        product.start()
        env["ADMINISTRATOR_TOKEN"] = log_in_administrator(product)
        arguments = [argument.replace("{url}", product.url) for argument in command]
        return subprocess.run(arguments, env=env, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
