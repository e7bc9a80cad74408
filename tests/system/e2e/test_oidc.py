"""Log-in with the certified provider `oidc-provider`, in a real browser."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Request, expect

from tests.support.ports import free_port
from tests.support.processes import ROOT
from tests.support.product import Product
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.stage import built_product
from tests.system.e2e.visitor_actions import PASSWORD, log_in

BUTTON = "Continue with Camino"


@contextmanager
def running_provider(issuer: str, redirect: str) -> Iterator[None]:
    command = ["node", "test/oidc-provider.mjs", issuer, redirect]
    with subprocess.Popen(command, cwd=ROOT / "web", stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "listening\n"
            yield
        finally:
            process.kill()


@pytest.fixture(scope="module")
def target() -> str:
    """The provider's origin, the only other one that pages of these tests may reach."""
    return f"http://localhost:{free_port()}"


@pytest.fixture(scope="module")
def site(target: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product with a provider, which runs, too."""
    settings = {
        "ATAJO_OIDC_ISSUER": target,
        "ATAJO_OIDC_CLIENT_ID": "atajo",
        "ATAJO_OIDC_CLIENT_SECRET": "a-secret-of-the-test",
        "ATAJO_OIDC_NAME": "Camino",
    }
    with (
        built_product(tmp_path_factory.mktemp("oidc"), **settings) as product,
        running_provider(target, f"{product.url}/oidc/callback"),
    ):
        product.start()
        yield product


def go(page: Page, name: str, path: str = "/login") -> None:
    """Log in to the provider as somebody, and allow it what it asks for."""
    page.goto(path)
    page.get_by_role("button", name=BUTTON).click()
    prove(page, name)


def prove(page: Page, name: str) -> None:
    page.locator("[name=login]").fill(name)
    page.locator("[name=password]").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


def test_a_new_user_gets_an_account_without_a_password(site: Product, visitor: Visitors) -> None:
    page = visitor().new_page()
    go(page, "ana")
    expect(page).to_have_url(re.compile("/$"))
    page.goto("/my-account/settings")
    section = page.get_by_role("region", name="Login with Camino")
    expect(section).to_contain_text("ana@example.com")
    expect(section).to_contain_text("you stay logged in at Camino")
    sessions = page.get_by_role("region", name="Sessions").get_by_role("listitem")
    expect(sessions).to_have_count(1)
    expect(sessions).to_contain_text("Chrome on Linux")

    # Its only way to log in stays.
    section.get_by_role("button", name="Remove ana@example.com").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Remove").click()
    expect(dialog.get_by_text("Set a password first.")).to_be_visible()

    # The provider confirms it again, which asks for the credentials.
    dialog.get_by_role("button", name="Confirm with Camino again").click()
    prove_again(page, "ana")
    expect(page).to_have_url(re.compile("/my-account/settings$"))
    page.get_by_label("New password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_text("Your password was changed.")).to_be_visible()
    log_in(visitor().new_page(), "ana@example.com")


def prove_again(page: Page, name: str) -> None:
    page.locator("[name=login]").fill(name)
    page.locator("[name=password]").fill("any")
    page.get_by_role("button", name="Sign-in").click()


def test_an_account_with_a_password_is_connected_by_it(site: Product, visitor: Visitors) -> None:
    site.register("bea@example.com", password=PASSWORD)
    page = visitor().new_page()
    go(page, "bea")
    expect(page.get_by_text("the email address bea@example.com")).to_be_visible()
    assert urlsplit(page.url).query == ""
    page.get_by_label("Password", exact=True).fill("Wrong-42")
    page.get_by_role("button", name="Connect and log in").click()
    expect(page.get_by_text("Incorrect password")).to_be_visible()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Connect and log in").click()
    expect(page).to_have_url(re.compile("/$"))

    page.goto("/my-account/settings")
    section = page.get_by_role("region", name="Login with Camino")
    section.get_by_role("button", name="Remove bea@example.com").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Password", exact=True).fill(PASSWORD)
    dialog.get_by_role("button", name="Remove").click()
    expect(section.get_by_text("The connection was removed.")).to_be_visible()


def test_an_address_that_is_not_verified_is_refused(site: Product, visitor: Visitors) -> None:
    page = visitor().new_page()
    go(page, "unverified", "/register")
    expect(page.get_by_text("Camino does not know a verified email address")).to_be_visible()


def test_a_response_ends_nothing_in_another_browser(
    site: Product, visitor: Visitors, expected: list[str]
) -> None:
    expected += ["net::ERR_FAILED", "finishOidc"]
    ours, theirs = visitor().new_page(), visitor().new_page()
    caught: list[str] = []

    def watch(request: Request) -> None:
        if "/oidc/callback?" in request.url:
            caught.append(request.url)

    theirs.on("request", watch)
    theirs.route("**/finishOidc", lambda route: route.abort())
    go(theirs, "mallory")
    expect(theirs.get_by_text("Something went wrong. Please try again.")).to_be_visible()
    [url] = caught
    assert parse_qs(urlsplit(url).query).keys() >= {"code", "state", "iss"}
    ours.goto(url)
    expect(ours.get_by_text("This login cannot be completed")).to_be_visible()
    assert ours.evaluate("localStorage.getItem('userToken')") is None
