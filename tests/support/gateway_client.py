"""An HTTP client of the gateway's functions and redirects."""

from __future__ import annotations

import random
import string
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, Self

import bcrypt
import httpx

from tests.support.processes import NO_TLS
from tests.support.waiting import RECOVERY_SECONDS, wait_until

BROWSER = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36"
)
"""User-Agent of a person."""
ALPHABET = string.ascii_letters + string.digits + "-_"
"""The characters of codes."""


class GatewayClient:
    """Uses the gateway at `url` as people and their browsers do."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.Client(timeout=30, follow_redirects=False, verify=NO_TLS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def serves(self) -> bool:
        """Return whether it can be reached and serves."""
        try:
            return self.http.get(f"{self.url}/robots.txt").is_success
        except httpx.TransportError:
            return False

    def call(self, function: str, data: object) -> httpx.Response:
        """Call a function."""
        return self.http.post(f"{self.url}/{function}", json={"data": data})

    def data(self, function: str, data: object) -> Any:
        """Call a function that must answer 200; return the `data` of its response."""
        response = self.call(function, data)
        assert response.status_code == 200, response.text
        return response.json()["data"]

    def shorten(self, url: str, token: str | None = None, code: str | None = None) -> str:
        """Create a link; return its code."""
        code = code or new_code()
        reply = self.data("createShortLink", {"code": code, "url": url, "token": token})
        assert reply["success"], reply
        return code

    def visit(self, code: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
        """Request a short URL with the headers of a browser."""
        return self.http.get(
            f"{self.url}/{code}", headers={"user-agent": BROWSER, **(headers or {})}
        )

    def register(self, email: str | None = None, password: str = "Camino-42") -> str:
        """Create an account; return its e-mail address."""
        email = email or f"{new_code()}@example.com"
        assert self.data("registerUser", {**hashed(password), "email": email}) == {"success": True}
        return email

    def log_in(self, email: str, password: str = "Camino-42") -> str:
        """Log in; return the session token."""
        reply = self.data("verifyUser", {"email": email, "password": password})
        assert reply["success"], reply
        token: str = reply["token"]
        return token

    def views(self, token: str) -> dict[str, int]:
        """Return the views of an account's links by code, as soon as they are known.

        If analytics was too slow recently, the gateway shows links without views, and calls
        analytics again only after some seconds.
        """
        deadline = time.monotonic() + RECOVERY_SECONDS
        while True:
            reply = self.data("showProfile", {"token": token})
            views = {link["short_link"]: link["views"] for link in reply["data"]}
            if None not in views.values():
                return views
            assert time.monotonic() < deadline, f"no views are known within {RECOVERY_SECONDS} s"
            time.sleep(0.1)

    def await_views(self, token: str, wanted: Mapping[str, int]) -> None:
        """Wait until an account has exactly these links with these numbers of views."""
        wait_until(lambda: self.views(token) == wanted, RECOVERY_SECONDS)


def new_code() -> str:
    """Return a random code."""
    return "".join(random.choices(ALPHABET, k=8))


def registration(email: str, password: str = "Camino-42", cost: int = 10) -> dict[str, str]:
    """Return the payload of registerUser as the page builds it, for the user name `walker`."""
    salt = bcrypt.gensalt(cost)
    hashed = bcrypt.hashpw(password.encode(), salt)
    return {
        "email": email,
        "password": hashed.decode(),
        "salt": salt.decode(),
        "username": "walker",
    }


@cache
def hashed(password: str) -> dict[str, str]:
    """Return a registration without an e-mail address, cached: hashing takes 50 ms of a core.

    A test that registers the same address twice must hash twice: the same hash would make the
    second registration a repetition of the first.
    """
    return registration("", password)
