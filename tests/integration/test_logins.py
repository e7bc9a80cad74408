"""Logging in to the running product, from many places, on either store."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pymongo
import pytest

from deploy.local.store import store_of
from tests.conftest import STORES, store_of_product
from tests.product import Product, new_code, registration

SPELLED = "Jos\u00e9.M\u00fcller"
"""The name of an e-mail address with letters of two spellings."""


Reply = httpx.Response


def log_in(email: str, password: str = "Camino-42") -> dict[str, str]:
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
def calling_from(product: Product, address: str) -> Iterator[Callable[[dict[str, str]], Reply]]:
    """verifyUser as somebody at an address of this machine calls it."""
    with httpx.Client(transport=httpx.HTTPTransport(local_address=address), timeout=60) as http:
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
