"""Edits whose process is killed right after it acknowledged them."""

from __future__ import annotations

import secrets
from pathlib import Path

from tests.support.product import Product


def test_an_edit_survives_the_death_of_links_right_after_it(tmp_path: Path) -> None:
    owner = {"guest": secrets.token_urlsafe(32)}
    old, new = "https://old.example/", "https://new.example/"
    with Product(tmp_path) as product:
        product.start()

        def make() -> str:
            reply = product.data(
                "createShortLink", {**owner, "code": secrets.token_hex(4), "url": old}
            )
            code: str = reply["code"]
            return code

        def scan_code_of(code: str) -> str:
            reply = product.data("createScanCode", {**owner, "code": code})
            scan_code: str = reply["scan_code"]
            return scan_code

        changed, removed, restored, ended, scanned = (make() for _ in range(5))
        twins = {code: scan_code_of(code) for code in (changed, removed, restored, ended)}
        product.data("removeLinks", {**owner, "codes": [restored]})
        for code in (*twins, *twins.values()):  # Regardless of what the gateway had cached.
            product.visit(code)

        for code, changes in (
            (changed, {"url": new}),
            (ended, {"expires_at": "2020-01-01T00:00:00Z", "ended_url": new}),
        ):
            product.data("changeLink", {**owner, "code": code, "changes": changes})
        product.data("removeLinks", {**owner, "codes": [removed]})
        product.data("restoreLinks", {**owner, "codes": [restored]})
        created = make()
        twins[scanned] = scan_code_of(scanned)
        product.kill("links")

        leads_to = {changed: new, ended: new, restored: old, scanned: old}
        for _ in range(2):
            for code, url in leads_to.items():
                for address in (code, twins[code]):
                    visited = product.visit(address)
                    found = (visited.status_code, visited.headers.get("location"))
                    assert found == (302, url), code
            assert product.visit(created).headers["location"] == old
            for address in (removed, twins[removed]):
                assert product.visit(address).status_code not in (302, 503)
                reply = product.data("accessLink", {"code": address})
                assert (reply["longUrl"], reply["state"]) == ([], "removed")
