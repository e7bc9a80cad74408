"""Coming back without the password: recovery codes and passkeys on three gateways."""

from __future__ import annotations

from typing import Any

from tests.support.authenticator import Authenticator
from tests.support.gateway_client import hashed
from tests.support.product import Product
from tests.support.waiting import PROPAGATION_SECONDS, wait_until
from tests.system.several_gateways import GATEWAYS, SeveralGateways
from tests.system.several_gateways import gateways as gateways

PASSWORD, NEW = "Camino-42", "Sendero-43"


def call(product: Product, url: str, function: str, /, **payload: Any) -> dict[str, Any]:
    """Call a function of one gateway. Return the `data` of the response."""
    response = product.http.post(f"{url}/{function}", json={"data": payload})
    data: dict[str, Any] = response.json()["data"]
    return data


def log_in(product: Product, email: str, password: str = PASSWORD) -> str:
    token: str = product.data("verifyUser", {"email": email, "password": password})["token"]
    return token


def reset(product: Product, url: str, email: str, code: str, password: str) -> dict[str, Any]:
    new = hashed(password)
    return call(
        product,
        url,
        "resetPassword",
        email=email,
        recovery_code=code,
        new_password=new["password"],
        new_salt=new["salt"],
    )


def has_ended(gateways: SeveralGateways, token: str) -> bool:
    return gateways.accepts(token) == [False] * GATEWAYS


def test_a_recovery_code_brings_an_account_back_with_its_links(gateways: SeveralGateways) -> None:
    product = gateways.product
    email = product.register()
    token = log_in(product, email)
    code = product.shorten("https://example.com/mine", token)
    created = product.data("createRecoveryCodes", {"token": token, "password": PASSWORD})
    assert list(created) == ["success", "codes"]
    assert all(len(one) == 14 for one in created["codes"])
    wrong = product.data("createRecoveryCodes", {"token": token, "password": "wrong"})
    assert wrong == {"success": False, "error": "incorrect"}

    product.kill("auth")
    product.start("auth")
    wait_until(lambda: gateways.accepts(token) == [True] * GATEWAYS, PROPAGATION_SECONDS)
    for url, one in zip(gateways.urls, created["codes"], strict=False):
        assert reset(product, url, email, one.lower(), NEW) == {"success": True}
        assert reset(product, url, email, one, NEW) == {"success": False, "error": "incorrect"}
    wait_until(lambda: has_ended(gateways, token), PROPAGATION_SECONDS)
    token = log_in(product, email, NEW)
    left = product.data("countRecoveryCodes", {"token": token})
    assert left == {"success": True, "left": 10 - GATEWAYS}
    assert product.data("showLink", {"token": token, "code": code})["success"]
    unknown = reset(product, product.url, f"no-{email}", created["codes"][9], NEW)
    assert unknown == {"success": False, "error": "incorrect"}


def test_a_passkey_works_on_every_gateway(gateways: SeveralGateways) -> None:
    product, urls = gateways.product, gateways.urls
    email = product.register()
    token = log_in(product, email)
    device = Authenticator(product.url)
    begun = call(product, urls[0], "beginPasskey", token=token, password=PASSWORD)
    credential = device.create(begun["options"])
    added = call(
        product, urls[1], "finishPasskey", token=token, name="Phone", credential=credential
    )
    assert added == {"success": True, "id": credential["id"]}
    listed = call(product, urls[2], "listPasskeys", token=token)
    (passkey,) = listed["passkeys"]
    assert list(passkey) == ["id", "name", "created_at", "last_used_at"]
    assert (passkey["name"], passkey["last_used_at"]) == ("Phone", None)

    options = call(product, urls[0], "beginLogin")["options"]
    answer = device.get(options)
    login = call(product, urls[1], "finishLogin", credential=answer)
    assert list(login) == ["success", "token", "expirationTimestamp", "username"]
    assert gateways.accepts(login["token"]) == [True] * GATEWAYS
    repeated = call(product, urls[2], "finishLogin", credential=answer)
    assert repeated == {"success": False, "error": "incorrect"}
    with_device = call(
        product,
        urls[0],
        "finishLogin",
        credential=device.get(call(product, urls[2], "beginLogin")["options"]),
        device=None,
    )
    assert with_device["device"]

    removed = {"token": token, "id": passkey["id"]}
    wrong = product.data("removePasskey", {**removed, "password": "wrong"})
    assert wrong == {"success": False, "error": "incorrect"}
    assert product.data("removePasskey", {**removed, "password": PASSWORD}) == {"success": True}
    gone = call(
        product,
        urls[0],
        "finishLogin",
        credential=device.get(call(product, urls[1], "beginLogin")["options"]),
    )
    assert gone == {"success": False, "error": "no exist"}
