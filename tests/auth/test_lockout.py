"""Failed log-ins from many client IPs to the whole product, on both stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.support.gateway_client import registration
from tests.support.processes import NO_TLS
from tests.support.product import Product

WRONG = "\u00f1" * 37
"""A password that is too long for bcrypt, so that it is rejected without 50 ms of hashing."""
Reply = httpx.Response


def log_in(email: str, password: str = "Camino-42") -> dict[str, Any]:
    """Return the payload of verifyUser."""
    return {"email": email, "password": password}


def succeeded(reply: Reply) -> bool:
    return bool(reply.json()["data"]["success"])


@contextmanager
def calling_from(product: Product, client_ip: str) -> Iterator[Callable[[dict[str, Any]], Reply]]:
    """Yield a function that calls verifyUser from a loopback address."""
    with httpx.Client(
        transport=httpx.HTTPTransport(local_address=client_ip, verify=NO_TLS), timeout=60
    ) as http:
        yield lambda data: http.post(
            f"http://{product.address('gateway')}/verifyUser", json={"data": data}
        )


def reason(reply: Reply) -> str:
    """Return why a log-in was rejected: the `error` that the page shows, or the error's reason."""
    body = reply.json()
    return str(body["data"]["error"] if "data" in body else body["error"]["details"]["reason"])


def lock_out(product: Product, email: str) -> None:
    """Reach the account's limit with ten failures from each of ten client IPs."""
    for host in range(10, 20):
        with calling_from(product, f"127.0.0.{host}") as stranger:
            failed = {reason(stranger(log_in(email, WRONG))) for _ in range(10)}
            assert failed == {"incorrect"}
    with calling_from(product, "127.0.0.99") as stranger:
        assert_locked_out(stranger(log_in(email)))


def assert_locked_out(reply: Reply) -> None:
    assert (reply.status_code, reason(reply)) == (429, "TOO_MANY_ATTEMPTS")
    assert 0 < int(reply.headers["retry-after"]) <= 900


def change(token: str, password: str = "Camino-42") -> dict[str, Any]:
    """Return the payload of changePassword, with `Camino-43` as the new password."""
    new = registration("", "Camino-43")
    return {
        "token": token,
        "password": password,
        "new_password": new["password"],
        "new_salt": new["salt"],
    }


def is_invalid(product: Product, token: str) -> bool:
    profile: dict[str, Any] = product.data("showProfile", {"token": token})
    return profile == {"success": False, "error": "invalid token"}


def test_strangers_lock_out_neither_a_known_browser_nor_a_session(product: Product) -> None:
    email, other = product.register(), product.register()
    first, foreign = [
        product.data("verifyUser", {**log_in(each), "device": None}) for each in (email, other)
    ]
    device, token = first["device"], first["token"]
    assert 0 < len(device) <= 1000
    lock_out(product, email)

    with calling_from(product, "127.0.0.2") as call:
        for unknown in (None, "", "nonsense", foreign["device"], device[:-3], token, "\0\u00f1"):
            assert_locked_out(call({**log_in(email), "device": unknown}))
        reply = call({**log_in(email), "device": device})
        assert succeeded(reply)
        # Also from a client IP that reached its limit, and with the new device token.
        device = reply.json()["data"]["device"]
        with calling_from(product, "127.0.0.10") as same:
            assert succeeded(same({**log_in(email), "device": device}))
        assert is_invalid(product, device)

        session = product.data("changePassword", change(token))
        assert session.keys() == {"success", "token", "expirationTimestamp"}
        assert is_invalid(product, token)
        assert succeeded(call({**log_in(email, "Camino-43"), "device": device}))
        assert reason(call({**log_in(email), "device": device})) == "incorrect"
    removed = {"token": session["token"], "password": "Camino-43"}
    assert product.data("removeAccount", removed) == {"success": True}
    assert is_invalid(product, session["token"])


@pytest.mark.parametrize("device", [7, [], "x" * 1001])
def test_a_malformed_device_is_rejected(product: Product, device: object) -> None:
    reply = product.call("verifyUser", {**log_in("a@example.com"), "device": device})
    assert (reply.status_code, reason(reply)) == (400, "INVALID_ARGUMENT")
    assert "device" in reply.json()["error"]["message"]
