"""The contract of both auth stores for several entities together."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pymongo
import pytest

from services.auth.__main__ import STORE_FACTORIES
from services.auth.application.records import encode
from services.auth.application.stores import Stores
from services.auth.storage.mongo import store as mongo_store
from services.auth.storage.mongo.schema import SCHEMA
from services.auth.storage.sqlite import store as sqlite_store
from services.auth.storage.sqlite.schema import MIGRATIONS
from services.shared.sqlite.connection import connect
from services.shared.stores import StoreFactories
from tests.auth.cases import (
    ANA,
    CODES,
    KEY,
    NOW,
    PASSKEY,
    SESSION,
    WINDOW,
    code_hashes,
    numbered_key,
)
from tests.auth.conftest import Opening
from tests.support.store_fixtures import NewStore, open_stores_at


async def test_a_store_of_the_first_version_is_upgraded(new_store: NewStore) -> None:
    first = StoreFactories[Stores](
        sqlite_store.open_stores, MIGRATIONS[:1], lambda: (mongo_store.open_stores, SCHEMA[:1])
    )
    with new_store() as setting:
        if setting.startswith("mongodb"):  # The database may have been used by other tests.
            with pymongo.MongoClient[dict[str, Any]](setting) as client:
                client.get_default_database().schema.delete_many({})
        later = ("role", "suspended", "last_seen_at")
        record = {name: value for name, value in encode(ANA).items() if name not in later}
        async with open_stores_at(setting, "auth", first) as stores:
            await cast("Any", stores.accounts)._backend.insert("test", record)
        async with open_stores_at(setting, "auth", STORE_FACTORIES) as stores:
            assert await stores.keys.list_all(ANA.id) == []
            assert await stores.keys.add(ANA, KEY, 1)
            unused = replace(ANA, last_seen_at=None)
            assert await stores.keys.find(KEY.key_hash) == (KEY, unused)
            assert await stores.accounts.by_id(ANA.id) == unused
            assert await stores.accounts.list_page("", None, 10) == [unused]
            assert await stores.sessions.add(unused, SESSION, 1)
            assert await stores.accounts.by_id(ANA.id) == ANA


async def test_reopened_stores_have_all_data(opening: Opening) -> None:
    async with opening() as stores:
        await stores.accounts.add(ANA)
        await stores.attempts.acquire("counter", 1, WINDOW, NOW)
        await stores.keys.add(ANA, KEY, 1)
        await stores.keys.record_uses({KEY.key_hash: NOW})

    async with opening() as stores:
        assert await stores.accounts.by_email(ANA.email_key) == ANA
        assert not (await stores.attempts.acquire("counter", 1, WINDOW, NOW)).granted
        assert await stores.keys.find(KEY.key_hash) == (replace(KEY, last_used_at=NOW), ANA)


async def test_codes_and_passkeys_survive_a_restart(opening: Opening) -> None:
    async with opening() as stores:
        await stores.accounts.add(ANA)
        await stores.recovery_codes.replace(ANA, CODES, NOW)
        await stores.passkeys.add(ANA, PASSKEY, 10)
    async with opening() as stores:
        assert await code_hashes(stores) == set(CODES)
        assert await stores.passkeys.find(PASSKEY.id) == (PASSKEY, ANA)


async def test_codes_and_passkeys_are_deleted_with_their_account(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.recovery_codes.replace(ANA, CODES, NOW)
    await stores.passkeys.add(ANA, PASSKEY, 10)
    await stores.accounts.close(ANA.email_key)
    await stores.accounts.remove(ANA.id)
    assert await stores.passkeys.find(PASSKEY.id) is None
    assert await stores.accounts.add(ANA) == ANA
    assert await code_hashes(stores) == set()
    assert await stores.passkeys.list_all(ANA.id) == []
    assert await stores.passkeys.add(ANA, PASSKEY, 10)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list with the number of steps of SQLite's virtual machine in reads, in tens."""
    counted = [0]

    def step() -> None:
        counted[0] += 10

    def connect_counted(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.set_progress_handler(step, 10)
        return connection

    monkeypatch.setattr("services.shared.sqlite.readers.connect", connect_counted)
    return counted


async def test_sqlite_reads_only_the_accounts_and_keys_that_it_returns(
    tmp_path: Path, steps: list[int]
) -> None:
    async with open_stores_at(f"sqlite:///{tmp_path}/auth.db", "auth", STORE_FACTORIES) as stores:
        accounts, keys = stores.accounts, stores.keys
        for number in range(300):
            account = replace(ANA, id=f"{number:024x}", email_key=f"{number}@b")
            await accounts.add(account)
            await keys.add(account, numbered_key(1, account), 1)
        await accounts.close("7@b")

        async def read() -> None:
            assert await accounts.list_closed(100) == [f"{7:024x}"]
            found = await keys.find(numbered_key(1, replace(ANA, id=f"{250:024x}")).key_hash)
            assert found
            assert await keys.list_all(found[1].id) == [found[0]]

        for _ in range(10):
            await read()  # SQLite reads the schema on each connection.
        steps[0] = 0
        await read()
    assert steps[0] < 600
