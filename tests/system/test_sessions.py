"""Sessions that end stop on every gateway within five seconds, whatever is killed."""

from __future__ import annotations

from typing import Any

from tests.support.gateway_client import hashed
from tests.support.product import Product
from tests.support.waiting import PROPAGATION_SECONDS, wait_until
from tests.system.several_gateways import GATEWAYS, SeveralGateways
from tests.system.several_gateways import gateways as gateways

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PASSWORD = "Camino-42"


def log_in(product: Product, email: str, **headers: str) -> str:
    response = product.http.post(
        f"{product.url}/verifyUser",
        json={"data": {"email": email, "password": PASSWORD}},
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )
    token: str = response.json()["data"]["token"]
    return token


def sessions_of(product: Product, token: str) -> list[dict[str, Any]]:
    listed = product.data("listSessions", {"token": token})
    assert list(listed) == ["success", "sessions"]
    return list(listed["sessions"])


def has_ended(gateways: SeveralGateways, token: str) -> bool:
    return gateways.accepts(token) == [False] * GATEWAYS


def test_sessions_are_listed_with_their_browsers(gateways: SeveralGateways) -> None:
    product = gateways.product
    email = product.register()
    first = log_in(product, email, user_agent=FIREFOX)
    second = log_in(product, email, user_agent="unknown")
    [latest, earliest] = sessions_of(product, second)
    assert list(latest) == ["id", "created_at", "last_seen_at", "browser", "system", "current"]
    assert (latest["browser"], latest["system"], latest["current"]) == ("", "", True)
    assert (earliest["browser"], earliest["system"]) == ("Firefox", "Linux")
    assert not earliest["current"]
    assert earliest["created_at"] <= latest["created_at"]
    assert latest["last_seen_at"].endswith(":00:00.000Z")
    assert [one["current"] for one in sessions_of(product, first)] == [False, True]


def test_an_ended_session_stops_on_every_gateway_and_no_other(gateways: SeveralGateways) -> None:
    product = gateways.product
    email = product.register()
    tokens = [log_in(product, email) for _ in range(3)]
    assert all(gateways.accepts(token) == [True] * GATEWAYS for token in tokens)
    [_, second, _] = sessions_of(product, tokens[2])
    for _ in range(2):
        product.data("endSession", {"token": tokens[0], "id": second["id"]})
    wait_until(lambda: has_ended(gateways, tokens[1]), PROPAGATION_SECONDS)
    assert gateways.accepts(tokens[0]) == gateways.accepts(tokens[2]) == [True] * GATEWAYS

    product.data("endOtherSessions", {"token": tokens[2]})
    wait_until(lambda: has_ended(gateways, tokens[0]), PROPAGATION_SECONDS)
    assert gateways.accepts(tokens[2]) == [True] * GATEWAYS
    assert [one["current"] for one in sessions_of(product, tokens[2])] == [True]


def test_a_session_ends_itself(gateways: SeveralGateways) -> None:
    product = gateways.product
    email = product.register()
    mine, other = log_in(product, email), log_in(product, email)
    for no_session in ("", "unknown"):
        ended = product.data("endSession", {"token": mine, "id": no_session})
        assert ended == {"success": True}
    assert gateways.accepts(mine) == [True] * GATEWAYS

    assert product.data("endSession", {"token": mine}) == {"success": True}
    wait_until(lambda: has_ended(gateways, mine), PROPAGATION_SECONDS)
    assert gateways.accepts(other) == [True] * GATEWAYS
    again = product.data("endSession", {"token": mine, "id": None})
    assert again == {"success": False, "error": "invalid token"}


def test_a_password_change_ends_all_other_sessions(gateways: SeveralGateways) -> None:
    product = gateways.product
    email = product.register()
    mine, other = log_in(product, email), log_in(product, email)
    new = hashed("Sendero-43")
    changed = product.data(
        "changePassword",
        {
            "token": mine,
            "password": PASSWORD,
            "new_password": new["password"],
            "new_salt": new["salt"],
        },
    )
    wait_until(
        lambda: has_ended(gateways, mine) and has_ended(gateways, other), PROPAGATION_SECONDS
    )
    [session] = sessions_of(product, changed["token"])
    assert session["current"]


def test_ended_and_open_sessions_survive_a_kill(gateways: SeveralGateways) -> None:
    product = gateways.product
    email = product.register()
    ended, kept = log_in(product, email), log_in(product, email)
    product.data("endSession", {"token": ended, "id": sessions_of(product, ended)[1]["id"]})
    product.kill("auth")
    product.start("auth")
    wait_until(lambda: gateways.accepts(kept) == [True] * GATEWAYS, PROPAGATION_SECONDS)
    assert has_ended(gateways, ended)
    [session] = sessions_of(product, kept)
    assert session["current"]


def test_an_owner_in_a_session_is_not_locked_out_by_strangers(gateways: SeveralGateways) -> None:
    product = gateways.product
    email = product.register()
    mine, other = log_in(product, email), log_in(product, email)
    wrong = {"email": email, "password": "wrong"}
    wait_until(lambda: product.call("verifyUser", wrong).status_code == 429, 60)
    code = product.shorten("https://example.com/", mine)
    product.data("removeLinks", {"token": mine, "codes": [code]})
    assert len(sessions_of(product, mine)) == 2
    product.data("endOtherSessions", {"token": mine})
    wait_until(lambda: has_ended(gateways, other), PROPAGATION_SECONDS)
    confirmed = {"token": mine, "password": PASSWORD}
    assert len(product.data("createRecoveryCodes", confirmed)["codes"]) == 10
    assert product.data("beginPasskey", confirmed)["success"]
    assert product.data("removePasskey", {**confirmed, "id": "none"}) == {"success": True}
    removed = product.data("removeAccount", {"token": mine, "password": PASSWORD})
    assert removed == {"success": True}
