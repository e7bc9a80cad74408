"""The functions of registration, suspension and confirmation, on a gateway in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.authenticator import Authenticator
from tests.support.gateway_client import registration
from tests.support.in_process_gateway import InProcessGateway


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessGateway]:
    with InProcessGateway(tmp_path_factory.mktemp("registration"), limits="off") as gateway:
        yield gateway


def test_an_invitation_that_nobody_needs_is_ignored(gateway: InProcessGateway) -> None:
    for number, invitation in enumerate((None, "", "unknown")):
        payload = registration(f"{number}@example.com")
        assert gateway.data("registerUser", {**payload, "invitation": invitation}) == {
            "success": True
        }
    wrong = gateway.call("registerUser", {**registration("x@example.com"), "invitation": 1})
    assert wrong.status_code == 400


def test_a_session_is_confirmed_by_password_or_passkey(gateway: InProcessGateway) -> None:
    token = gateway.log_in(gateway.register())
    ours, theirs = (Authenticator(gateway.url) for _ in range(2))
    for device, owner in ((ours, token), (theirs, gateway.log_in(gateway.register()))):
        secret = {"token": owner, "password": "Camino-42"}
        options = gateway.data("beginPasskey", secret)["options"]
        added = {"token": owner, "name": "Phone", "credential": device.create(options)}
        assert gateway.data("finishPasskey", added)["success"]

    def confirm(**proof: Any) -> Any:
        return gateway.data("confirmSession", {"token": token, **proof})

    def answer(device: Authenticator) -> Any:
        return device.get(gateway.data("beginLogin", {})["options"])

    done, incorrect = {"success": True}, {"success": False, "error": "incorrect"}
    assert confirm(password="Camino-42") == done
    assert confirm(password="Camino-43") == incorrect
    credential = answer(ours)
    assert confirm(credential=credential) == done
    assert confirm(credential=credential) == incorrect, "a challenge is valid once"
    assert confirm(credential=answer(theirs)) == incorrect
    assert confirm(credential={}) == incorrect


def test_a_confirmation_needs_one_proof_and_a_session(gateway: InProcessGateway) -> None:
    token = gateway.log_in(gateway.register())
    for proof in ({}, {"password": ""}, {"password": "x", "credential": {}}):
        assert gateway.call("confirmSession", {"token": token, **proof}).status_code == 400
    for sent, error in ((None, "no logged"), ("x", "invalid token")):
        payload = {"token": sent, "password": "Camino-42"}
        assert gateway.data("confirmSession", payload) == {"success": False, "error": error}


def test_a_member_learns_nothing_of_roles(gateway: InProcessGateway) -> None:
    payload = {"email": gateway.register(), "password": "Camino-42"}
    four = ["success", "token", "expirationTimestamp", "username"]
    assert list(gateway.data("verifyUser", payload)) == four
    assert list(gateway.data("verifyUser", {**payload, "device": None})) == [*four, "device"]
