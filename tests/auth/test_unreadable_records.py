"""Records without a field. Only a document of MongoDB can lack one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, cast

import pytest

from services.auth.__main__ import STORE_FACTORIES
from services.auth.application.stores import Stores
from services.auth.domain.recovery_code import RecoveryCode
from services.auth.domain.session import MAX_SESSIONS
from tests.auth.cases import ANA, CODES, KEY, NOW, PASSKEY, SESSION
from tests.support.store_fixtures import NewStore, open_new_stores


@pytest.fixture
async def mongo_stores(new_mongodb: NewStore) -> AsyncIterator[Stores]:
    """Stores with an account and a record of each part, which were all used."""
    async with open_new_stores(new_mongodb, "auth", STORE_FACTORIES) as stores:
        await stores.accounts.add(ANA)
        await stores.sessions.add(ANA, SESSION, MAX_SESSIONS)
        await stores.keys.add(ANA, KEY, 1)
        await stores.keys.record_uses({KEY.key_hash: NOW})
        await stores.passkeys.add(ANA, PASSKEY, 1)
        await stores.passkeys.record_use(PASSKEY, 1, NOW)
        await stores.recovery_codes.replace(ANA, CODES[:1], NOW)
        yield stores


async def unset(stores: Stores, path: str) -> None:
    """Remove a field of the account's document, which is there."""
    database = cast("Any", stores.accounts)._backend._database
    unset = await database.write(
        "test", lambda db: db.accounts.update_one({"_id": ANA.id}, {"$unset": {path: ""}})
    )
    assert unset.modified_count == 1


async def list_all(stores: Stores, part: str) -> list[Any]:
    store = stores.keys if part == "api_keys" else getattr(stores, part)
    records: list[Any] = await store.list_all(ANA.id)
    return records


@pytest.mark.parametrize("field", ["closed", "session", "created_at", "password_hash"])
async def test_an_account_without_a_field_does_not_verify_anything(
    mongo_stores: Stores, field: str
) -> None:
    await mongo_stores.accounts.close(ANA.email_key)
    await unset(mongo_stores, field)
    for found in (
        mongo_stores.keys.find(KEY.key_hash),
        mongo_stores.sessions.find(ANA.id, SESSION.id),
        mongo_stores.passkeys.find(PASSKEY.id),
        mongo_stores.accounts.by_id(ANA.id),
        mongo_stores.accounts.by_email(ANA.email_key),
    ):
        with pytest.raises(KeyError, match=field):
            await found


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ("sessions", "expires_at"),
        ("sessions", "browser"),
        ("api_keys", "expires_at"),
        ("api_keys", "scopes"),
        ("api_keys", "created_by.created_at"),
        ("passkeys", "public_key"),
        ("passkeys", "sign_count"),
        ("recovery_codes", "hash"),
        ("recovery_codes", "expires_at"),
    ],
)
async def test_a_record_without_a_required_field_is_left_out(
    mongo_stores: Stores, part: str, field: str
) -> None:
    await unset(mongo_stores, f"{part}.0.{field}")
    assert await list_all(mongo_stores, part) == []


USED_KEY = replace(KEY, last_used_at=NOW)
USED_PASSKEY = replace(PASSKEY, sign_count=1, last_used_at=NOW)


@pytest.mark.parametrize(
    ("part", "field", "expected"),
    [
        ("api_keys", "created_by", replace(USED_KEY, created_by=None)),
        ("api_keys", "last_used_at", replace(USED_KEY, last_used_at=None)),
        ("passkeys", "created_by", replace(USED_PASSKEY, created_by=None)),
        ("passkeys", "last_used_at", replace(USED_PASSKEY, last_used_at=None)),
        ("recovery_codes", "created_at", RecoveryCode(CODES[0])),
    ],
)
async def test_a_record_of_an_earlier_version_is_read(
    mongo_stores: Stores, part: str, field: str, expected: Any
) -> None:
    await unset(mongo_stores, f"{part}.0.{field}")
    assert await list_all(mongo_stores, part) == [expected]
