"""The list of sessions on the settings page, in two browsers."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.support.product import Product
from tests.system.e2e.conftest import Visitors
from tests.system.e2e.visitor_actions import PASSWORD, log_in


def test_a_session_that_is_logged_out_elsewhere_ends(site: Product, visitor: Visitors) -> None:
    email = site.register(password=PASSWORD)
    here, there = visitor().new_page(), visitor().new_page()
    log_in(there, email)
    log_in(here, email)
    here.goto("/my-account/settings")
    section = here.get_by_role("region", name="Sessions")
    items = section.get_by_role("listitem")
    expect(items).to_have_count(2)
    expect(items.first).to_contain_text("Chrome on Linux")
    expect(items.first).to_contain_text("This session")
    items.last.get_by_role("button").click()
    expect(section.get_by_text("The session was logged out.")).to_be_visible()
    expect(items).to_have_count(1)

    there.goto("/my-account/settings")
    expect(there).to_have_url(re.compile("/login$"))
    expect(there.get_by_text("Your session has ended. Please log in again.")).to_be_visible()
    here.reload()
    expect(items).to_have_count(1)
