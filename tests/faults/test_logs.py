"""What people entrust to the product is in no log, however much is logged and whatever fails."""

from __future__ import annotations

import time
from pathlib import Path

from tests.product import Product, new_code, registration


def test_no_log_of_any_process_holds_what_is_secret(tmp_path: Path) -> None:
    with Product(
        tmp_path,
        {"ATAJO_LOG_LEVEL": "debug", "ATAJO_TRUSTED_PROXIES": "127.0.0.0/8"},
    ) as product:
        product.start()
        address = "203.0.113.77"
        product.http.headers["x-forwarded-for"] = address
        email, password = "somebody.secret@example.com", "Camino-Secreto-42"
        account = registration(email, password)
        assert product.data("registerUser", account) == {"success": True}
        token = product.log_in(email, password)
        url = "https://target.example/very/private"
        code = product.shorten(url, token)
        product.visit(code, {"referer": "https://referring.example/page"})

        def use() -> None:
            """Every function, rightly and wrongly."""
            link = {"code": new_code(), "url": url, "token": token}
            for data in (link, {**link, "url": f"{url} \x00"}, {**link, "token": token + "x"}):
                product.call("createShortLink", data)
            product.call("createShortLink", {**link, "code": code, "url": f"{url}/other"})
            product.call("accessLink", {"code": code})
            for given in (password, password + "x"):
                product.call("verifyUser", {"email": email, "password": given})
            product.call("registerUser", {**account, "username": "Somebody Else"})
            product.call("registerUser", {**account, "password": account["salt"]})
            product.call("showProfile", {"token": token})
            product.http.post(f"{product.url}/verifyUser", content=f'{{"data": {password}')
            product.visit(code)
            product.visit(new_code())

        use()
        for name in ("auth", "links", "analytics"):
            product.kill(name)
        use()
        product.start("auth", "links", "analytics")
        # A store that breaks is the likeliest to be quoted with what it was asked.
        for name in ("auth", "links", "analytics"):
            for path in tmp_path.glob(f"{name}.sqlite3*"):
                path.write_bytes(b"no database" * 1000)
        use()
        time.sleep(0.5)
        logs = product.logs()
        assert '"level": "debug"' in logs or "request_failed" in logs
        secret = next(tmp_path.glob("*secret")).read_text()
        for what, text in {
            "session token": token,
            "signature": token.rpartition(".")[2],
            "password": password,
            "hash": account["password"],
            "salt": account["salt"],
            "e-mail address": email,
            "part of it": "somebody.secret",
            "client address": address,
            "target": "target.example",
            "referrer": "referring.example",
            "signing secret": secret,
        }.items():
            found = [line for line in logs.splitlines() if text in line]
            assert not found, f"{what} logged: {found[0]}"
