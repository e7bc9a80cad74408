"""Coming back without the password: recovery codes and passkeys on three gateways."""

from __future__ import annotations

from typing import Any

import pytest

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


def is_key_valid(product: Product, url: str, key: str) -> bool:
    sent = product.http.get(f"{url}/api/v1/account", headers={"authorization": f"Bearer {key}"})
    assert sent.status_code in (200, 401)
    return sent.status_code == 200


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
    assert left == {"success": True, "left": 10 - GATEWAYS, "created_at": left["created_at"]}
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
    assert list(passkey) == ["id", "name", "created_at", "last_used_at", "created_by"]
    [session] = product.data("listSessions", {"token": token})["sessions"]
    assert passkey["created_by"]["id"] == session["id"]
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


@pytest.mark.parametrize("way", ["changePassword", "resetPassword"])
def test_a_new_password_evicts_who_is_in_the_account(gateways: SeveralGateways, way: str) -> None:
    """An intruder created a key, a passkey and recovery codes, the last with the old password."""
    product, urls = gateways.product, gateways.urls
    email = product.register()
    token = log_in(product, email)
    secret = {"token": token, "password": PASSWORD}
    device = Authenticator(product.url)
    begun = product.data("beginPasskey", secret)
    passkey = {"token": token, "name": "Phone", "credential": device.create(begun["options"])}
    assert product.data("finishPasskey", passkey)["success"]
    key = product.data("createKey", {**secret, "name": "Script", "scopes": ["links:read"]})["key"]
    assert all(is_key_valid(product, url, key) for url in urls)
    codes = product.data("createRecoveryCodes", secret)["codes"]

    made = hashed(NEW)
    new = {"new_password": made["password"], "new_salt": made["salt"]}
    proof = secret if way == "changePassword" else {"email": email, "recovery_code": codes[0]}
    assert product.data(way, {**proof, **new, "revoke": True})["success"]

    wait_until(
        lambda: not any(is_key_valid(product, url, key) for url in urls), PROPAGATION_SECONDS
    )
    answer = device.get(product.data("beginLogin", {})["options"])
    unknown = {"success": False, "error": "no exist"}
    assert product.data("finishLogin", {"credential": answer}) == unknown
    # A code that resets leaves the other nine, which are its holder's.
    left = product.data("countRecoveryCodes", {"token": log_in(product, email, NEW)})["left"]
    assert left == (9 if way == "resetPassword" else 0)
    took = reset(product, product.url, email, codes[1], PASSWORD)
    assert took["success"] == (way == "resetPassword")
