"""Logging in to the running product, from many places, on either store."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymongo
import pytest

from deploy.local.store import store_of
from tests.conftest import STORES, store_of_product
from tests.product import Product, new_code, registration

SPELLED = "Jos\u00e9.M\u00fcller"
"""The name of an e-mail address with letters of two spellings."""


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
    with Product(tmp_path_factory.mktemp("logins"), store=store) as product:
        product.start()
        yield product


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
