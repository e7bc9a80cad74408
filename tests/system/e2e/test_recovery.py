"""Coming back without the password, in a real browser: codes, reset links, and passkeys.

Chromium's virtual authenticators stand for the device.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import CDPSession, Locator, Page, expect

from tests.support.gateway_client import new_code
from tests.support.product import Product
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.visitor_actions import (
    PASSWORD,
    log_in,
    register,
    shorten,
    stored_token,
    toast,
)

NEW = "Sendero-43"


class Device:
    """A virtual authenticator of a page."""

    def __init__(self, page: Page, **options: Any) -> None:
        self._cdp: CDPSession = page.context.new_cdp_session(page)
        self._cdp.send("WebAuthn.enable", {"enableUI": False})
        self._options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
            **options,
        }
        self.id = self._add()

    def _add(self) -> str:
        added = self._cdp.send("WebAuthn.addVirtualAuthenticator", {"options": self._options})
        return str(added["authenticatorId"])

    def add_another(self) -> Device:
        other = object.__new__(Device)
        other._cdp, other._options = self._cdp, {**self._options, "transport": "usb"}
        other.id = other._add()
        return other

    def credentials(self) -> list[dict[str, Any]]:
        found = self._cdp.send("WebAuthn.getCredentials", {"authenticatorId": self.id})
        return list(found["credentials"])

    def replace(self, **changes: Any) -> None:
        """Change fields of the only credential."""
        (credential,) = self.credentials()
        about = {"authenticatorId": self.id}
        self._cdp.send(
            "WebAuthn.removeCredential", {**about, "credentialId": credential["credentialId"]}
        )
        changed = {**credential, **changes}
        self._cdp.send("WebAuthn.addCredential", {**about, "credential": changed})

    def verify_user(self, verified: bool) -> None:
        self._cdp.send(
            "WebAuthn.setUserVerified", {"authenticatorId": self.id, "isUserVerified": verified}
        )

    def simulate_presence(self, present: bool) -> None:
        self._cdp.send(
            "WebAuthn.setAutomaticPresenceSimulation",
            {"authenticatorId": self.id, "enabled": present},
        )


def section(page: Page, name: str) -> Locator:
    page.goto("/my-account/settings")
    return page.get_by_role("region", name=name)


def confirm(page: Page, button: str, password: str = PASSWORD) -> None:
    """Enter the password in the open dialog."""
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Password", exact=True).fill(password)
    dialog.get_by_role("button", name=button).click()


def add_passkey(page: Page, name: str) -> None:
    passkeys = section(page, "Passkeys")
    passkeys.get_by_role("button", name="Add a passkey").click()
    page.get_by_role("dialog").get_by_label("Name").fill(name)
    confirm(page, "Continue")
    expect(passkeys.get_by_text(f"The passkey “{name}” was added.")).to_be_visible()


def log_out(page: Page) -> None:
    page.goto("/my-account")
    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile("/$"))


def test_whoever_forgets_the_password_comes_back_with_a_code(page: Page, visitor: Visitors) -> None:
    email = f"{new_code()}@example.com"
    register(page, email)
    log_in(page, email)
    page.goto("/my-account")
    address = shorten(page, "https://example.com/mine")
    # The account offers recovery codes once.
    page.get_by_role("link", name="Create recovery codes").click()
    expect(page).to_have_url(re.compile("/my-account/settings#recovery-codes$"))
    codes = page.get_by_role("region", name="Recovery codes")
    codes.get_by_role("button", name="Create recovery codes").click()
    confirm(page, "Create recovery codes")
    shown = codes.get_by_role("list", name="Your new recovery codes")
    expect(shown.get_by_role("listitem")).to_have_count(10)
    kept = shown.get_by_role("listitem").all_inner_texts()
    assert len(set(kept)) == 10
    page.goto("/my-account")
    expect(page.get_by_role("link", name="Create recovery codes")).to_have_count(0)

    # Another browser, without the password.
    other = visitor().new_page()
    other.goto("/login")
    other.get_by_role("link", name="Forgot your password?").click()
    other.get_by_label("Email").fill(email)
    other.get_by_label("Recovery code").fill(kept[3].lower())
    other.get_by_label("New password").fill(NEW)
    other.get_by_role("button", name="Set password").click()
    expect(toast(other, "Your password was changed. You can log in with it now.")).to_be_visible()
    other.get_by_label("Password", exact=True).fill(NEW)
    other.get_by_role("button", name="LOGIN").click()
    expect(other).to_have_url(re.compile("/$"))

    # It adds a passkey, logs in with it, and ends the session with the password.
    Device(other)
    passkeys = section(other, "Passkeys")
    passkeys.get_by_role("button", name="Add a passkey").click()
    confirm(other, "Continue", NEW)
    expect(passkeys.get_by_role("listitem")).to_have_count(1)
    other.evaluate("localStorage.removeItem('userToken')")
    other.goto("/login")  # The virtual user chooses the passkey in the field.
    expect(other).to_have_url(re.compile("/$"))
    sessions = section(other, "Sessions")
    expect(sessions.get_by_role("listitem")).to_have_count(2)
    sessions.get_by_role("button", name=re.compile("^Log out Chrome")).click()
    expect(sessions.get_by_role("listitem")).to_have_count(1)
    expect(other.get_by_text("You have 9 codes left.")).to_be_visible()
    other.goto("/my-account")
    expect(other.get_by_role("main")).to_contain_text(address.removeprefix("http://"))

    # The first browser's session ended with the password.
    page.goto("/my-account")
    expect(page.get_by_text("Your session has ended. Please log in again.")).to_be_visible()


def test_a_reset_link_fills_the_form_and_leaves_no_trace(site: Product, page: Page) -> None:
    email = site.register(password=PASSWORD)
    page.goto(f"/reset-password#email={email}&code=0000-0000-0000")
    expect(page.get_by_label("Email")).to_have_value(email)
    expect(page.get_by_label("Recovery code")).to_have_value("0000-0000-0000")
    expect(page).to_have_url(re.compile("/reset-password$"))
    page.get_by_label("New password").fill(NEW)
    page.keyboard.press("Enter")
    expect(page.get_by_text("The email or the recovery code is wrong")).to_be_visible()
    page.go_back()
    assert "0000" not in page.url


def test_the_well_known_address_leads_to_the_password(site: Product, page: Page) -> None:
    log_in(page, site.register(password=PASSWORD))
    page.goto("/.well-known/change-password")
    expect(page).to_have_url(re.compile("/my-account/settings#password$"))
    expect(page.get_by_role("heading", name="Password")).to_be_visible()


def test_a_passkey_logs_in_in_the_field(site: Product, page: Page) -> None:
    """By conditional mediation: the virtual user chooses the passkey at once."""
    device = Device(page)
    log_in(page, site.register(password=PASSWORD))
    add_passkey(page, "Phone")
    (credential,) = device.credentials()
    assert credential["isResidentCredential"]
    log_out(page)
    page.goto("/login")
    expect(page).to_have_url(re.compile("/$"))
    assert stored_token(page)


def test_a_passkey_logs_in_by_the_button(site: Product, page: Page) -> None:
    page.add_init_script("PublicKeyCredential.isConditionalMediationAvailable = async () => false;")
    device = Device(page)
    log_in(page, site.register(password=PASSWORD))
    add_passkey(page, "Phone")
    log_out(page)
    page.goto("/login")
    device.verify_user(False)
    button = page.get_by_role("button", name="Log in with a passkey")
    button.click()
    expect(page.get_by_text("No passkey was used.")).to_be_visible()
    device.verify_user(True)
    button.click()
    expect(page).to_have_url(re.compile("/$"))
    assert stored_token(page)


def test_a_second_passkey_on_one_device_is_refused_and_another_device_may_have_one(
    site: Product, page: Page, expected: list[str]
) -> None:
    device = Device(page)
    log_in(page, site.register(password=PASSWORD))
    add_passkey(page, "First")
    (first,) = device.credentials()
    passkeys = section(page, "Passkeys")
    passkeys.get_by_role("button", name="Add a passkey").click()
    confirm(page, "Continue")
    expect(page.get_by_text("This device already has a passkey for your account.")).to_be_visible()
    assert device.credentials() == [first]
    page.keyboard.press("Escape")

    device.simulate_presence(False)
    device.add_another()
    add_passkey(page, "Second")
    expect(passkeys.get_by_role("listitem")).to_have_count(2)
    assert device.credentials() == [first]


def test_a_user_who_is_not_verified_gets_no_passkey(site: Product, page: Page) -> None:
    device = Device(page)
    log_in(page, site.register(password=PASSWORD))
    device.verify_user(False)
    passkeys = section(page, "Passkeys")
    passkeys.get_by_role("button", name="Add a passkey").click()
    confirm(page, "Continue")
    expect(page.get_by_text("No passkey was added. You can try again.")).to_be_visible()
    assert device.credentials() == []


@pytest.mark.parametrize("spoil", ["sign count", "handle", "removed"])
def test_the_page_explains_a_refused_passkey(site: Product, page: Page, spoil: str) -> None:
    device = Device(page)
    log_in(page, site.register(password=PASSWORD))
    add_passkey(page, "Phone")
    text = "The passkey could not be verified. Please try again."
    if spoil == "removed":
        passkeys = section(page, "Passkeys")
        passkeys.get_by_role("button", name="Remove Phone").click()
        confirm(page, "Remove")
        expect(passkeys.get_by_text("You have no passkeys yet.")).to_be_visible()
        text = "This passkey was removed from your account. Log in with your password."
    elif spoil == "handle":
        device.replace(userHandle="bm9ib2R5")
    log_out(page)
    if spoil == "sign count":
        page.goto("/login")
        expect(page).to_have_url(re.compile("/$"))
        log_out(page)
        device.replace(signCount=0)
    page.goto("/login")
    expect(page.get_by_text(text)).to_be_visible()
    assert stored_token(page) is None
