"""What visitors do, by the names they see."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import APIResponse, Locator, Page, Route, expect

from tests.support.waiting import wait_until

PASSWORD = "Camino-42"


def until(condition: Callable[[], bool]) -> None:
    """Wait for something the back end does in its own time."""
    wait_until(condition)


def answer_to(route: Route, post_data: str | None = None) -> APIResponse:
    """What the back end answers to the page's request.

    It is asked again when the connection was closed under it. The test's client keeps connections
    open, and the gateway ends one that was idle for five seconds; a browser asks again, too.
    """
    return route.fetch(post_data=post_data, max_retries=3)


def link_field(page: Page) -> Locator:
    """The field of the shortener."""
    return page.get_by_label("Link to shorten")


def submit(page: Page, url: str) -> None:
    """Put a link into the shortener of the page that is open, and press its button."""
    link_field(page).fill(url)
    page.get_by_role("button", name="Shorten", exact=True).click()


def plates(page: Page) -> Locator:
    """The plates of the links that were made in this visit, newest first."""
    made = page.get_by_role("list", name="New short links").get_by_role("button")
    return made.filter(has_text=re.compile("Cop(y|ied)$|Not copied$"))


def spinner(page: Page, words: str) -> Locator:
    """What turns, with the words that say what is waited for."""
    return page.get_by_role("main").get_by_role("img", name=words)


def shorten(page: Page, url: str) -> str:
    """Shorten a link on the page that is open; returns its short address."""
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


def log_in(page: Page, email: str) -> None:
    """Log in, which ends on the home page."""
    page.goto("/login")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="LOGIN").click()
    expect(page).to_have_url(re.compile("/$"))


def keep_token(page: Page, token: str, lifetime: float) -> None:
    """Store a session as the page would, with seconds to live."""
    page.evaluate(
        "([token, seconds]) => localStorage.setItem('userToken', JSON.stringify("
        "{token, expirationTimestamp: Date.now() + 1000 * seconds}))",
        [token, lifetime],
    )


def stored_token(page: Page) -> str | None:
    """What the browser keeps of a session."""
    token: str | None = page.evaluate("localStorage.getItem('userToken')")
    return token


def toast(page: Page, message: str) -> Locator:
    """A toast with a message, to the letter."""
    return page.locator(".Toastify__toast").get_by_text(message, exact=True)


def hold_back(page: Page, code: re.Pattern[str]) -> list[Route]:
    """What is asked for of some files of the page's code, once each, to be let go on by the caller.

    What was fetched is imported from the browser's cache, which is off while requests are held.
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


def until_held(page: Page, held: list[Route]) -> None:
    """Wait until a request is held."""
    # Playwright's events reach the test while it asks the page something, not while it sleeps.
    until(lambda: bool(held) or page.evaluate("() => false"))


def let_go_on(page: Page, held: list[Route]) -> None:
    """Let the last that is held go on, once something is."""
    until_held(page, held)
    held.pop().continue_()


def sideways(page: Page) -> int:
    """By how many pixels the page scrolls sideways."""
    pixels: int = page.evaluate(
        "() => { const e = document.scrollingElement; const from = e.scrollLeft; "
        "e.scrollLeft = 9999; const by = e.scrollLeft; e.scrollLeft = from; "
        "return Math.max(by, e.scrollWidth - e.clientWidth) }"
    )
    return pixels
