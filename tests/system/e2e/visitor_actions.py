"""Actions of visitors, by visible names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from playwright.sync_api import APIResponse, Locator, Page, Route, expect

from tests.support.product import Product
from tests.support.waiting import wait_until

PASSWORD = "Camino-42"


def until(condition: Callable[[], bool]) -> None:
    """Wait for asynchronous work of the back end."""
    wait_until(condition)


def answer_to(route: Route, post_data: str | None = None) -> APIResponse:
    """Return the back end's response to the page's request.

    Retries if the connection was closed: the client keeps connections open, and the gateway closes
    them after five idle seconds. A browser retries, too.
    """
    return route.fetch(post_data=post_data, max_retries=3)


def link_field(page: Page) -> Locator:
    """The field of the shortener."""
    return page.get_by_label("Link to shorten")


def submit(page: Page, url: str) -> None:
    """Submit a link to the shortener of the open page."""
    link_field(page).fill(url)
    page.get_by_role("button", name="Shorten", exact=True).click()


def plates(page: Page) -> Locator:
    """The links created in this visit, newest first."""
    made = page.get_by_role("list", name="New short links").get_by_role("button")
    return made.filter(has_text=re.compile("Cop(y|ied)$|Not copied$"))


def spinner(page: Page, words: str) -> Locator:
    """The spinner with this label."""
    return page.get_by_role("main").get_by_role("img", name=words)


def shorten(page: Page, url: str) -> str:
    """Shorten a link on the open page and return its short URL."""
    submit(page, url)
    plate = plates(page).filter(has_text=url).first
    expect(plate).to_contain_text("Copy")
    found = re.search(r"localhost:\d+/[\w-]{8}", plate.inner_text().replace("\n", ""))
    assert found
    return f"http://{found.group()}"


def register(page: Page, email: str, username: str = "Caminante") -> None:
    """Register, which ends on the login page."""
    page.goto("/register")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Username").fill(username)
    page.get_by_role("button", name="REGISTER").click()
    expect(page).to_have_url(re.compile("/login$"))
    # The form of the registration stays until the code of the login page is there.
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")


def log_in(page: Page, email: str) -> None:
    """Log in, which ends on the home page."""
    page.goto("/login")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="LOGIN").click()
    expect(page).to_have_url(re.compile("/$"))


def keep_token(page: Page, token: str, lifetime: float) -> None:
    """Store a session as the page does, with a lifetime in seconds."""
    page.evaluate(
        "([token, seconds]) => localStorage.setItem('userToken', JSON.stringify("
        "{token, expirationTimestamp: Date.now() + 1000 * seconds}))",
        [token, lifetime],
    )


def stored_token(page: Page) -> str | None:
    """Return the session token in the browser's storage."""
    token: str | None = page.evaluate("localStorage.getItem('userToken')")
    return token


def has_session_ended(site: Product, stored: str | None) -> bool:
    """Whether the server refuses a token, given as the page stored it."""
    token = json.loads(stored or "")["token"]
    return bool(site.data("listKeys", {"token": token}).get("error") == "invalid token")


def toast(page: Page, message: str) -> Locator:
    """A toast with exactly this message."""
    return page.locator(".Toastify__toast").get_by_text(message, exact=True)


def hold_back(page: Page, code: re.Pattern[str]) -> list[Route]:
    """Hold the first request for each matching file of the page's code until the caller continues
    it.

    Fetched files are imported from the browser's cache, which is off while requests are held.
    """
    held: list[Route] = []
    known: set[str] = set()

    def hold(route: Route) -> None:
        if route.request.url in known:
            route.continue_()
        else:
            known.add(route.request.url)
            held.append(route)

    page.route(code, hold)
    return held


def await_scripts(page: Page) -> None:
    """Wait until the scripts have taken over the document of a public page."""
    # Not wait_for_function, which may violate the content security policy.
    until(lambda: bool(page.evaluate("() => !window.early")))


def await_fonts(page: Page) -> None:
    """Wait until the fonts of the text shown are loaded: the fallback breaks lines elsewhere."""
    page.evaluate("document.fonts.ready.then(() => undefined)")


def until_held(page: Page, held: list[Route]) -> None:
    """Wait until a request is held."""
    # Playwright delivers events during calls to the page, not while the test sleeps.
    until(lambda: bool(held) or page.evaluate("() => false"))


def let_go_on(page: Page, held: list[Route]) -> None:
    """Continue the last held request, waiting until there is one."""
    until_held(page, held)
    held.pop().continue_()


def sideways(page: Page) -> int:
    """Return by how many pixels the page scrolls horizontally."""
    pixels: int = page.evaluate(
        "() => { const e = document.scrollingElement; const from = e.scrollLeft; "
        "e.scrollLeft = 9999; const by = e.scrollLeft; e.scrollLeft = from; "
        "return Math.max(by, e.scrollWidth - e.clientWidth) }"
    )
    return pixels
