"""The main use cases in the other supported browsers. All other tests use Chromium."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.support.gateway_client import new_code
from tests.support.product import Product
from tests.support.waiting import extend_by_load, wait_until
from tests.support.webdriver import Window, firefox, webkit
from tests.system.e2e.visitor_actions import PASSWORD

_INSTALL_SECONDS = 20.0
"""Within these, a service worker is installed that has the machine to itself. It takes five, of
which the page waits three before it registers it."""
_CONTROLLED = """
const {serviceWorker} = navigator;
return new Promise((resolve) => {
  serviceWorker.addEventListener('controllerchange', () => resolve(true), {once: true});
  if (serviceWorker.controller) resolve(true);
  setTimeout(() => resolve(false), 10_000);
});
"""
"""Returns whether a service worker controls the page, after at most ten seconds. It claims the page
once it has all files."""
_SHORT = re.compile(r"localhost:\d+/[\w-]{8}(?=.*Copy)")


@pytest.fixture
def site(product_with_pages: Product) -> Product:
    return product_with_pages


def is_saved(window: Window, name: str) -> bool:
    """Whether a PNG file was downloaded completely."""
    file = window.downloads / name
    return file.exists() and file.read_bytes().endswith(b"IEND\xaeB`\x82")


def shorten(window: Window, url: str) -> str:
    """Shorten a link on the open page and return its short URL."""
    window.fill("Link to shorten", url)
    window.press("Shorten")
    wait_until(lambda: _SHORT.search(window.text) is not None)
    found = _SHORT.search(window.text)
    assert found
    return f"http://{found.group()}"


# Selenium's own start of WebKitGTK uses a deprecated interface.
@pytest.mark.filterwarnings("ignore:setting remote_server_addr:DeprecationWarning")
@pytest.mark.timeout(400)
@pytest.mark.parametrize("browser", [firefox, webkit])
def test_the_main_use_cases(
    browser: Callable[[Path], AbstractContextManager[Window]],
    site: Product,
    target: str,
    tmp_path: Path,
) -> None:
    home = tmp_path / "browser"
    home.mkdir()
    with browser(home) as window:
        window.go(f"{site.url}/")
        address = shorten(window, f"{target}/of-nobody")
        window.go(address)
        window.await_text("The target")
        assert window.url == f"{target}/of-nobody"

        email = f"{new_code()}@example.com"
        window.go(f"{site.url}/register")
        window.fill("Email", email)
        window.fill("Password", PASSWORD)
        window.fill("Username", "Caminante")
        window.press("REGISTER")
        window.await_path("/login")
        window.await_title("Log in")
        window.fill("Email", email)
        window.fill("Password", PASSWORD)
        window.press("LOGIN")
        window.await_path("/")
        assert window.run("return localStorage.getItem('userToken')")

        followed = shorten(window, f"{target}/of-an-account")
        window.go(followed)
        window.await_text("The target")
        token = site.log_in(email, PASSWORD)
        wait_until(lambda: site.views(token) == {followed.rpartition("/")[2]: 1})
        window.go(f"{site.url}/my-account")
        window.await_text(f"{target}/of-an-account")

        window.go(f"{site.url}/custom-qr-generator")
        window.fill("URL", followed)
        window.press("DOWNLOAD QR")
        wait_until(partial(is_saved, window, "my-qr-code.png"))

        window.go(f"{site.url}/share?text=Look:%20{target}/shared")
        window.await_path("/short-link")
        shared = "return document.querySelector('input[type=url]')?.value"
        wait_until(lambda: window.run(shared) == f"{target}/shared")

        window.go(f"{site.url}/privacy-policies")
        window.await_title("Privacy policies")
        window.await_text("Contents")

        window.run("localStorage.setItem('language', 'es')")
        window.go(f"{site.url}/privacy-policies?from=here")
        window.await_title("Política de privacidad")
        assert window.run("return document.documentElement.lang") == "es"
        assert window.url == f"{site.url}/privacy-policies?from=here"


@pytest.mark.filterwarnings("ignore:setting remote_server_addr:DeprecationWarning")
@pytest.mark.timeout(400)
@pytest.mark.parametrize("browser", [firefox, webkit])
def test_a_code_is_saved_while_the_gateway_is_dead(
    browser: Callable[[Path], AbstractContextManager[Window]], site: Product, tmp_path: Path
) -> None:
    home = tmp_path / "browser"
    home.mkdir()
    with browser(home) as window:
        window.go(f"{site.url}/terms-of-use?lang=es")
        window.await_title("Condiciones de uso")
        wait_until(lambda: window.run(_CONTROLLED), extend_by_load(_INSTALL_SECONDS))
        site.kill("gateway")
        try:
            window.go(f"{site.url}/custom-qr-generator")
            window.await_title("Generador de códigos QR")
            window.fill("Nombre", "sin-red")
            window.fill("URL", "https://example.com/")
            window.press("DESCARGAR QR")
            wait_until(partial(is_saved, window, "sin-red.png"))
        finally:
            site.start("gateway")
