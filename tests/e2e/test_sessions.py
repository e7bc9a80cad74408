"""Sessions in a real browser: two tabs, running out while open, and the account's failures."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.acts import (
    PASSWORD,
    answer_to,
    keep_token,
    let_go_on,
    log_in,
    plates,
    register,
    shorten,
    spinner,
    stored_token,
    submit,
    toast,
    until,
    until_held,
)
from tests.product import Product, new_code

HOME = re.compile(":[0-9]+/$")


@pytest.fixture
def token(site: Product) -> str:
    return site.log_in(site.register())


def menu(page: Page) -> list[str]:
    """The main menu as it stands."""
    return page.get_by_role("navigation", name="Main").get_by_role("link").all_inner_texts()


def test_logging_in_and_out_in_one_tab_shows_in_the_other(site: Product, page: Page) -> None:
    other = page.context.new_page()
    other.goto("/short-link")
    expect(other.get_by_role("link", name="LOGIN")).to_be_visible()
    log_in(page, site.register(password=PASSWORD))
    expect(other.get_by_role("link", name="MY ACCOUNT")).to_be_visible()
    assert menu(other) == ["HOME", "SHORTENER", "QR CODE", "MY ACCOUNT"]

    other.get_by_role("link", name="MY ACCOUNT").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Your links")
    page.get_by_role("link", name="MY ACCOUNT").click()
    page.get_by_role("button", name="Log out").click()
    for tab in (page, other):
        expect(tab).to_have_url(HOME)
        expect(tab.get_by_role("link", name="LOGIN")).to_be_visible()
    assert stored_token(page) is None


def test_a_log_in_page_left_open_follows_the_other_tab(site: Product, page: Page) -> None:
    other = page.context.new_page()
    other.goto("/register")
    expect(other.get_by_role("heading", level=1)).to_have_text("Register")
    log_in(page, site.register(password=PASSWORD))
    expect(other).to_have_url(re.compile("/my-account$"))


def test_a_session_that_runs_out_is_noticed_while_the_page_is_open(page: Page, token: str) -> None:
    page.clock.install()
    page.goto("/")
    keep_token(page, token, 4 * 3600)
    page.reload()
    expect(page.get_by_role("link", name="MY ACCOUNT")).to_be_visible()
    page.clock.fast_forward("03:59:00")
    expect(page.get_by_role("link", name="MY ACCOUNT")).to_be_visible()
    page.clock.fast_forward("00:01:01")
    expect(page.get_by_role("link", name="LOGIN")).to_be_visible()
    assert stored_token(page) is None


def test_an_account_page_whose_session_runs_out_asks_to_log_in(page: Page, token: str) -> None:
    page.clock.install()
    page.goto("/")
    keep_token(page, token, 60)
    page.goto("/my-account")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your links")
    page.clock.fast_forward("00:01:01")
    expect(page).to_have_url(re.compile("/login$"))
    ended = page.get_by_text("Your session has ended. Please log in again.", exact=True)
    expect(ended).to_be_visible()
    assert stored_token(page) is None


def test_the_session_that_is_stored_lasts_four_hours(site: Product, page: Page) -> None:
    log_in(page, site.register(password=PASSWORD))
    left = page.evaluate(
        "JSON.parse(localStorage.getItem('userToken')).expirationTimestamp - Date.now()"
    )
    # An answer that was long on its way moves it by as much, and the clock by hours.
    assert abs(left - 4 * 3_600_000) < 30_000
    assert page.evaluate("Object.keys(JSON.parse(localStorage.getItem('userToken'))).sort()") == [
        "expirationTimestamp",
        "token",
    ]


@pytest.mark.parametrize("hours", [5, -5])
def test_a_clock_that_is_wrong_logs_in_all_the_same(site: Product, page: Page, hours: int) -> None:
    email = site.register(password=PASSWORD)
    page.add_init_script(
        f"{{ const now = Date.now; Date.now = () => now.call(Date) + {hours * 3_600_000}; }}"
    )
    log_in(page, email)
    expect(page.get_by_role("link", name="MY ACCOUNT")).to_be_visible()
    left = page.evaluate(
        "JSON.parse(localStorage.getItem('userToken')).expirationTimestamp - Date.now()"
    )
    # The server's `Date` may be two seconds behind, and its answer was some time on its way.
    assert abs(left - 4 * 3_600_000) < 30_000
    page.get_by_role("link", name="MY ACCOUNT").click()
    expect(page.get_by_text("You have no links yet.")).to_be_visible()


def test_a_full_storage_keeps_the_session_for_the_visit(site: Product, page: Page) -> None:
    email = site.register(password=PASSWORD)
    page.goto("/login")
    page.evaluate(
        "() => { for (let size = 2 ** 22, n = 0; size >= 1; n++) {"
        " try { localStorage.setItem(`full-${n}`, 'x'.repeat(size)) }"
        " catch { size = Math.floor(size / 2) } } }"
    )
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="LOGIN").click()
    expect(page).to_have_url(HOME)
    assert stored_token(page) is None
    page.get_by_role("link", name="MY ACCOUNT").click()
    expect(page.get_by_text("You have no links yet.")).to_be_visible()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("link", name="LOGIN")).to_be_visible()


def test_a_log_in_under_way_does_not_pull_back(site: Product, page: Page) -> None:
    email = site.register(password=PASSWORD)
    held: list[Route] = []
    page.route("**/verifyUser", lambda route: held.append(route))
    page.goto("/login")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    with page.expect_request("**/verifyUser"):
        page.get_by_role("button", name="LOGIN").click()
    page.get_by_role("link", name="QR CODE").click()
    page.get_by_label("URL").fill("typed meanwhile")
    let_go_on(page, held)
    expect(page.get_by_role("link", name="MY ACCOUNT")).to_be_visible()
    expect(page).to_have_url(re.compile("/custom-qr-generator$"))
    expect(page.get_by_label("URL")).to_have_value("typed meanwhile")


def test_the_mark_of_the_browser_outlives_logging_out(site: Product, page: Page) -> None:
    """The answer is given here, so that this holds whatever the back end makes of a mark."""
    email = site.register(password=PASSWORD)
    sent: list[object] = []

    def answer(route: Route) -> None:
        payload = json.loads(route.request.post_data or "")["data"]
        sent.append(payload.pop("device", None))
        reply = answer_to(route, json.dumps({"data": payload}))
        body = reply.json()
        body["data"]["device"] = f"mark-{len(sent)}"
        route.fulfill(response=reply, json=body)

    page.route("**/verifyUser", answer)
    for _ in range(2):
        log_in(page, email)
        page.get_by_role("link", name="MY ACCOUNT").click()
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_role("link", name="LOGIN")).to_be_visible()
    assert sent == [None, "mark-1"]
    assert page.evaluate("localStorage.getItem('device')") == "mark-2"


def test_the_username_is_kept_after_registration(page: Page) -> None:
    register(page, f"{new_code()}@example.com", "Caminante ñ")
    assert page.evaluate("localStorage.getItem('username')") == "Caminante ñ"


def test_an_invalid_token_on_the_account_page_is_removed(page: Page) -> None:
    page.goto("/")
    keep_token(page, "forged", 3600)
    page.goto("/my-account")
    expect(page).to_have_url(HOME)
    expect(page.get_by_role("link", name="LOGIN")).to_be_visible()
    assert stored_token(page) is None


def test_not_logged_on_the_account_page_goes_home(page: Page, token: str) -> None:
    """The page never asks without a token: here it is taken out on its way."""
    page.route("**/showLinks", lambda route: route.continue_(post_data='{"data": {"token": null}}'))
    page.goto("/")
    keep_token(page, token, 3600)
    page.goto("/my-account")
    expect(page).to_have_url(HOME)


def test_a_failing_back_end_is_told_and_can_be_asked_again(
    site: Product, page: Page, token: str, expected: list[str]
) -> None:
    expected += ["status of 50", "showLinks: failed", "showStatistics: failed"]
    code = site.shorten("https://example.com/mine", token)
    page.goto("/")
    keep_token(page, token, 3600)
    site.kill("links")
    try:
        page.goto("/my-account")
        expect(toast(page, "Error on loading user data")).to_be_visible()
        expect(page.get_by_role("main").get_by_text("Error on loading user data")).to_be_visible()
        expect(spinner(page, "Loading")).to_have_count(0)
        assert stored_token(page) is not None
    finally:
        site.start("links")
    # The gateway finds the service again after a moment of its own.
    until(lambda: site.call("showProfile", {"token": token}).is_success)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("row").filter(has_text=code)).to_be_visible()
    # The button is gone, and the focus is with what took its place.
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_the_account_page_starts_with_its_spinner(site: Product, page: Page, token: str) -> None:
    code = site.shorten("https://example.com/later", token)
    page.goto("/")
    keep_token(page, token, 3600)
    held: list[Route] = []
    page.route("**/showLinks", lambda route: held.append(route))
    with page.expect_request("**/showLinks"):
        page.goto("/my-account")
    loading = spinner(page, "Loading your links")
    expect(loading).to_be_visible()
    expect(page.get_by_role("table")).to_have_count(0)
    let_go_on(page, held)
    expect(page.get_by_role("row").filter(has_text=code)).to_be_visible()
    expect(loading).to_have_count(0)


def test_an_empty_account_has_a_field_to_begin_with(page: Page, token: str, target: str) -> None:
    page.goto("/")
    keep_token(page, token, 3600)
    page.goto("/my-account")
    expect(page.get_by_text("You have no links yet.")).to_be_visible()
    submit(page, f"{target}/the-first")
    expect(page.get_by_role("row").filter(has_text=f"{target}/the-first")).to_be_visible()


def test_looking_at_the_page_again_brings_new_counts(site: Product, page: Page, token: str) -> None:
    code = site.shorten("https://example.com/looked-at", token)
    page.clock.install()
    page.goto("/")
    keep_token(page, token, 3600)
    page.goto("/my-account")
    row = page.get_by_role("row").filter(has_text=code)
    views = row.get_by_role("link", name=re.compile("views? of"))
    expect(views).to_have_text(re.compile("^0"))
    site.visit(code)
    until(lambda: site.views(token)[code] == 1)
    page.clock.fast_forward(5000)
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(views).to_have_text(re.compile("^1"))


def test_links_shortened_logged_in_are_the_accounts(
    site: Product, page: Page, token: str, target: str
) -> None:
    page.goto("/")
    keep_token(page, token, 3600)
    page.reload()
    address = shorten(page, f"{target}/attributed")
    assert list(site.views(token)) == [address[-8:]]
    page.get_by_role("link", name="MY ACCOUNT").click()
    short = page.get_by_role("row").filter(has_text=address[-8:])
    link = short.get_by_role("link", name=re.compile("attributed"))
    expect(link).to_have_attribute("href", f"{target}/attributed")
    expect(link).to_have_attribute("rel", re.compile("noopener"))


@pytest.mark.parametrize("path", ["/login", "/register"])
def test_password_managers_find_their_fields(page: Page, path: str) -> None:
    page.goto(path)
    password = page.get_by_label("Password", exact=True)
    expect(page.get_by_label("Email")).to_have_attribute("autocomplete", "username")
    expect(page.get_by_label("Email")).to_have_attribute("type", "email")
    kind = "current-password" if path == "/login" else "new-password"
    expect(password).to_have_attribute("autocomplete", kind)
    expect(password).to_have_attribute("type", "password")
    page.get_by_role("button", name="Show password").click()
    expect(password).to_have_attribute("type", "text")
    expect(password).to_have_attribute("autocomplete", kind)
    page.get_by_role("button", name="Hide password").click()
    expect(password).to_have_attribute("type", "password")


def test_an_incomplete_log_in_does_nothing(page: Page) -> None:
    page.goto("/login")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    button = page.get_by_role("button", name="LOGIN")
    button.click()
    page.get_by_label("Email").fill("someone@example.com")
    button.click()
    page.get_by_label("Email").fill("   ")
    page.get_by_label("Password", exact=True).fill("x")
    button.click()
    expect(page.locator(".Toastify__toast")).to_have_count(0)
    assert not [url for url in asked if url.endswith("/verifyUser")]


def test_a_log_in_is_sent_once_and_its_button_waits(site: Product, page: Page, target: str) -> None:
    email = site.register(password=PASSWORD)
    held: list[Route] = []
    page.route("**/verifyUser", lambda route: held.append(route))
    page.goto("/login")
    page.get_by_label("Email").fill(f"  {email.upper()} ")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    button = page.get_by_role("main").get_by_role("button").last
    width = button.bounding_box()
    button.dblclick()
    expect(button).to_have_attribute("aria-busy", "true")
    expect(spinner(page, "Please wait")).to_be_attached()
    assert button.bounding_box() == width
    page.keyboard.press("Enter")
    until_held(page, held)
    assert len(held) == 1
    let_go_on(page, held)
    expect(page).to_have_url(HOME)
    expect(plates(page)).to_have_count(0)


def test_the_rules_of_a_password_tick_in_spanish(page: Page) -> None:
    page.goto("/register")
    rules = page.locator("li[lang=es]")
    texts = [
        "Al menos 8 caracteres",
        "Al menos una letra mayúscula",
        "Al menos un dígito",
        "Al menos un símbolo",
        "Como máximo 72 bytes",
    ]
    expect(rules).to_contain_text(texts)
    password = page.get_by_label("Password", exact=True)
    for typed, met in {
        "abcdefgh": "15",
        "Abcdefgh": "125",
        "Abcdefg1": "1235",
        "Abcdefg1!": "12345",
        "Ñandú-42" + "ñ" * 33: "1234",
    }.items():
        password.fill(typed)
        wanted = [
            f"{t} (met)" if str(i + 1) in met else f"{t} (not met)" for i, t in enumerate(texts)
        ]
        expect(rules).to_have_text(wanted)
