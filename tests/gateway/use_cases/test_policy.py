"""What the operator's choices change in the functions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.gateway_client import new_code
from tests.support.in_process_gateway import InProcessGateway

URL = "https://example.com/"
GUEST = "A" * 43
NOBODY = {"success": False, "error": "no logged"}


@pytest.fixture
def private(tmp_path: Path) -> Iterator[InProcessGateway]:
    """A gateway without links of guests."""
    with InProcessGateway(tmp_path, guest_links="off") as gateway:
        yield gateway


@pytest.mark.parametrize("caller", [{}, {"token": None}, {"token": ""}, {"guest": GUEST}])
def test_without_guest_links_only_accounts_shorten(
    private: InProcessGateway, caller: dict[str, str | None]
) -> None:
    link = {"code": new_code(), "url": URL}
    assert private.data("createShortLink", link | caller) == NOBODY
    assert private.visit(link["code"]).status_code == 404
    token = private.log_in(private.register())
    assert private.data("createShortLink", {**link, "guest": GUEST, "token": token})["success"]
    assert private.visit(link["code"]).headers["location"] == URL


def test_without_guest_links_an_invalid_token_is_still_said_to_be_one(
    private: InProcessGateway,
) -> None:
    link = {"code": new_code(), "url": URL, "token": "forged", "guest": GUEST}
    assert private.data("createShortLink", link) == {"success": False, "error": "invalid token"}


def test_links_that_guests_have_remain_theirs(tmp_path: Path) -> None:
    code = new_code()
    with InProcessGateway(tmp_path) as gateway:
        gateway.data("createShortLink", {"code": code, "url": URL, "guest": GUEST})
    with InProcessGateway(tmp_path, guest_links="off") as gateway:
        assert gateway.data("showLink", {"code": code, "guest": GUEST})["success"]
        changes = {"url": "https://example.org/"}
        changed = gateway.data("changeLink", {"code": code, "guest": GUEST, "changes": changes})
        assert changed["link"]["long_link"] == changes["url"]
