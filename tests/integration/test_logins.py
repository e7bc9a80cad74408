"""Logging in to the running product, from many places, on either store."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pymongo
import pytest

from deploy.local.store import store_of
from tests.conftest import STORES, store_of_product
from tests.processes import NO_TLS
from tests.product import Product, new_code, registration
from tests.waiting import await_that

SPELLED = "Jos\u00e9.M\u00fcller"
"""The name of an e-mail address with letters of two spellings."""


WRONG = "\u00f1" * 37
"""A password that is wrong without 50 ms of bcrypt."""
Reply = httpx.Response


def log_in(email: str, password: str = "Camino-42") -> dict[str, Any]:
    """The payload of verifyUser."""
    return {"email": email, "password": password}


def succeeded(reply: Reply) -> bool:
    return bool(reply.json()["data"]["success"])


def spelled(form: str, host: str) -> str:
    """An address in one of its spellings: NFC has a letter in one character, NFD in two."""
    normal: Any = form
    return unicodedata.normalize(normal, f"{SPELLED}@{host}.example")


@pytest.fixture(scope="module", params=STORES)
def store(request: pytest.FixtureRequest) -> Iterator[str]:
    with store_of_product(request) as store:
        yield store


@pytest.fixture(scope="module")
def product(store: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The whole product."""
    settings = {"ATAJO_BCRYPT_THREADS": "1"}
    with Product(tmp_path_factory.mktemp("logins"), settings, store=store) as product:
        product.start()
        yield product


@contextmanager
def calling_from(product: Product, address: str) -> Iterator[Callable[[dict[str, Any]], Reply]]:
    """verifyUser as somebody at an address of this machine calls it."""
    with httpx.Client(
        transport=httpx.HTTPTransport(local_address=address, verify=NO_TLS), timeout=60
    ) as http:
        yield lambda data: http.post(
            f"http://{product.address('gateway')}/verifyUser", json={"data": data}
        )


def rewrite_key(product: Product, store: str, key: str, earlier: str) -> None:
    """Let an account stand under the key that an earlier version gave it."""
    if store:
        client: pymongo.MongoClient[Any] = pymongo.MongoClient(store_of("auth", store, Path()))
        with client:
            change = {"$set": {"email_key": earlier}}
            changed = client.get_default_database().accounts.update_one({"email_key": key}, change)
            assert changed.matched_count == 1
        return
    with sqlite3.connect(product.folder / "auth.sqlite3") as connection:
        statement = "UPDATE accounts SET email_key = ? WHERE email_key = ?"
        assert connection.execute(statement, (earlier, key)).rowcount == 1
    connection.close()


def test_an_address_is_one_in_both_spellings(product: Product) -> None:
    host = new_code()
    product.register(spelled("NFD", host))

    for form in ("NFC", "NFD"):
        product.log_in(spelled(form, host).upper())
        taken = product.data("registerUser", registration(spelled(form, host)))
        assert taken == {"success": False, "error": "exist"}


@pytest.mark.parametrize("registered", ["NFC", "NFD"])
@pytest.mark.parametrize("first", ["NFC", "NFD"])
def test_an_account_of_an_earlier_version_is_taken_over(
    product: Product, store: str, registered: str, first: str
) -> None:
    host = new_code()
    sent = registration(spelled(registered, host))
    assert product.data("registerUser", sent) == {"success": True}
    key = spelled("NFC", host).casefold()
    rewrite_key(product, store, key, spelled(registered, host).casefold())

    taken = product.data("registerUser", registration(spelled(first, host)))
    assert taken == {"success": False, "error": "exist"}
    for form in (first, "NFC", "NFD"):
        product.log_in(spelled(form, host))
    assert product.data("registerUser", sent) == {"success": True}
    rewrite_key(product, store, key, key)  # It stands under the one key now.


def test_accounts_that_an_earlier_version_told_apart_stay_apart(
    product: Product, store: str
) -> None:
    host = new_code()
    product.register(spelled("NFC", host), "Camino-1")
    key = spelled("NFC", host).casefold()
    rewrite_key(product, store, key, "moved aside")
    product.register(spelled("NFD", host), "Camino-2")
    rewrite_key(product, store, key, spelled("NFD", host).casefold())
    rewrite_key(product, store, "moved aside", key)

    for _ in range(2):
        product.log_in(spelled("NFC", host), "Camino-1")
        product.log_in(spelled("NFD", host), "Camino-2")


def test_dear_log_ins_from_one_address_do_not_hold_up_another(product: Product) -> None:
    sent = registration(f"{new_code()}@example.com", cost=14)
    dear = [f"{number}-{sent['email']}" for number in range(5)]
    for email in dear:
        assert product.data("registerUser", {**sent, "email": email}) == {"success": True}
    modest = product.register()

    with (
        calling_from(product, "127.0.0.2") as greedy,
        calling_from(product, "127.0.0.3") as other,
        ThreadPoolExecutor(len(dear)) as callers,
    ):
        logins = [callers.submit(greedy, log_in(email)) for email in dear]
        wait(logins, return_when=FIRST_COMPLETED)
        assert succeeded(other(log_in(modest)))
        ended = sum(each.done() for each in logins)
        assert all(succeeded(each.result()) for each in logins)
    # It came when one had ended and one was under way; in the order of coming it would be last.
    assert ended < 5


def test_expensive_log_ins_from_everywhere_do_not_hold_up_others(product: Product) -> None:
    """Each network has its share of the time, and eight of them once had all of it."""
    sent = registration(f"{new_code()}@example.com", cost=13)
    expensive = [f"{number}-{sent['email']}" for number in range(8)]
    for email in expensive:
        assert product.data("registerUser", {**sent, "email": email}) == {"success": True}
    standard = product.register()

    with ExitStack() as stack:
        callers = stack.enter_context(ThreadPoolExecutor(len(expensive)))
        calls = [
            stack.enter_context(calling_from(product, f"127.0.1.{number}")) for number in range(8)
        ]
        other = stack.enter_context(calling_from(product, "127.0.0.3"))
        logins = [
            callers.submit(call, log_in(email))
            for call, email in zip(calls, expensive, strict=True)
        ]
        await_that(lambda: _checks_under_way(product) == len(expensive))
        assert succeeded(other(log_in(standard)))
        ended = sum(each.done() for each in logins)
        assert all(succeeded(each.result()) for each in logins)
    # In the order of coming, or with a turn for each network, it would be the last.
    assert ended < 4


def _checks_under_way(product: Product) -> int:
    """Passwords that are checked, or wait for it."""
    text = httpx.get(product.metrics_url("auth"), verify=NO_TLS).text
    return sum(
        int(float(line.rpartition(" ")[2]))
        for line in text.splitlines()
        if line.startswith(("atajo_password_checks_running", "atajo_password_checks_waiting"))
    )


def reason(reply: Reply) -> str:
    """How a log-in was refused: the outcome that the page branches on, or the error's reason."""
    body = reply.json()
    return str(body["data"]["error"] if "data" in body else body["error"]["details"]["reason"])


def lock_out(product: Product, email: str) -> None:
    """Use up all attempts that strangers have, ten from each of ten addresses."""
    for host in range(10, 20):
        with calling_from(product, f"127.0.0.{host}") as stranger:
            failed = {reason(stranger(log_in(email, WRONG))) for _ in range(10)}
            assert failed == {"incorrect"}
    with calling_from(product, "127.0.0.99") as stranger:
        locked_out(stranger(log_in(email)))


def locked_out(reply: Reply) -> None:
    assert (reply.status_code, reason(reply)) == (429, "TOO_MANY_ATTEMPTS")
    assert 0 < int(reply.headers["retry-after"]) <= 900


def mark_of(product: Product, email: str, mark: str | None = None) -> str:
    """The mark that a browser has after a log-in."""
    given: str = product.data("verifyUser", {**log_in(email), "device": mark})["device"]
    assert 0 < len(given) <= 1000
    return given


def test_strangers_do_not_lock_out_a_browser_that_was_logged_in(product: Product) -> None:
    email, other = product.register(), product.register()
    mark, foreign = mark_of(product, email), mark_of(product, other)
    lock_out(product, email)

    with calling_from(product, "127.0.0.2") as call:
        for none in (None, "", "nonsense", foreign, f"{mark}x", mark[:-3], "x" * 1000, "\0\u00f1"):
            locked_out(call({**log_in(email), "device": none}))
        reply = call({**log_in(email), "device": mark})
        assert succeeded(reply)
        # From where strangers used theirs up as well, and with the mark that it has now.
        with calling_from(product, "127.0.0.10") as same:
            assert succeeded(same({**log_in(email), "device": reply.json()["data"]["device"]}))
        # A mark is no session, and a session is no mark.
        assert product.data("showProfile", {"token": mark})["error"] == "invalid token"
        locked_out(call({**log_in(email), "device": reply.json()["data"]["token"]}))


def test_a_browser_of_two_accounts_is_known_to_both(product: Product) -> None:
    email, other = product.register(), product.register()
    mark = mark_of(product, other, mark_of(product, email))
    lock_out(product, email)

    with calling_from(product, "127.0.0.2") as call:
        assert succeeded(call({**log_in(email), "device": mark}))


def test_a_stolen_mark_has_ten_attempts_and_takes_none_of_others(product: Product) -> None:
    email = product.register()
    mark, second = mark_of(product, email), mark_of(product, email)

    with calling_from(product, "127.0.0.2") as thief:
        for number in range(10):
            # Each log-in to an account of its own renews the mark, and it stays the same browser.
            if number == 5:
                mark = mark_of(product, product.register(), mark)
            assert reason(thief({**log_in(email, WRONG), "device": mark})) == "incorrect"
        locked_out(thief({**log_in(email), "device": mark}))
        with calling_from(product, "127.0.0.3") as elsewhere:
            locked_out(elsewhere({**log_in(email), "device": mark}))
        assert succeeded(thief({**log_in(email), "device": second}))
        for _ in range(10):
            assert reason(thief(log_in(email, WRONG))) == "incorrect"
        locked_out(thief(log_in(email)))


def change(product: Product, token: str, password: str = "Camino-42") -> dict[str, Any]:
    """The payload of changePassword, to `Camino-43`."""
    new = registration("", "Camino-43")
    return {
        "token": token,
        "password": password,
        "new_password": new["password"],
        "new_salt": new["salt"],
    }


def is_dead(product: Product, token: str) -> bool:
    profile: dict[str, Any] = product.data("showProfile", {"token": token})
    return profile == {"success": False, "error": "invalid token"}


def test_a_changed_password_ends_sessions_and_leaves_the_browser_known(product: Product) -> None:
    email = product.register()
    mark = mark_of(product, email)
    here, elsewhere = product.log_in(email), product.log_in(email)
    code = product.shorten("https://example.com/", here)

    session = product.data("changePassword", change(product, here))

    assert session.keys() == {"success", "token", "expirationTimestamp"}
    assert is_dead(product, here)
    assert is_dead(product, elsewhere)
    links = product.data("showProfile", {"token": session["token"]})["data"]
    assert [link["short_link"] for link in links] == [code]
    assert product.data("changePassword", change(product, here))["error"] == "invalid token"
    lock_out(product, email)
    with calling_from(product, "127.0.0.2") as call:
        assert succeeded(call({**log_in(email, "Camino-43"), "device": mark}))
        assert reason(call({**log_in(email), "device": mark})) == "incorrect"


@pytest.mark.parametrize("function", ["changePassword", "removeAccount"])
def test_wrong_passwords_from_a_session_are_limited_by_session(
    product: Product, function: str
) -> None:
    email = product.register()
    token, other = product.log_in(email), product.log_in(email)
    code = product.shorten("https://example.com/", token)
    payload = change(product, token, WRONG)
    if function == "removeAccount":
        payload = {"token": token, "password": WRONG}
    for _ in range(10):
        assert reason(product.call(function, payload)) == "incorrect"

    for function_, right in (
        ("changePassword", change(product, token)),
        ("removeAccount", {"token": token, "password": "Camino-42"}),
    ):
        locked_out(product.call(function_, right))
    assert not is_dead(product, token)
    assert product.visit(code).status_code == 302
    assert succeeded(product.call("verifyUser", log_in(email)))
    assert reason(product.call(function, {**payload, "token": other})) == "incorrect"
    assert succeeded(product.call("changePassword", change(product, other)))


def test_an_owner_in_a_session_is_not_locked_out_by_strangers(product: Product) -> None:
    email = product.register()
    token = product.log_in(email)
    lock_out(product, email)
    locked_out(product.call("verifyUser", log_in(email)))

    wrong = product.call("removeAccount", {"token": token, "password": WRONG})
    assert reason(wrong) == "incorrect"
    session = product.data("changePassword", change(product, token))
    assert session["success"], session
    removed = {"token": session["token"], "password": "Camino-43"}
    assert product.data("removeAccount", removed) == {"success": True}
    assert is_dead(product, session["token"])


@pytest.mark.parametrize("device", [7, True, [], {}, "x" * 1001])
def test_a_device_of_another_form_is_refused(product: Product, device: object) -> None:
    email = product.register()
    reply = product.call("verifyUser", {**log_in(email), "device": device})
    assert (reply.status_code, reason(reply)) == (400, "INVALID_ARGUMENT")
    assert "device" in reply.json()["error"]["message"]
