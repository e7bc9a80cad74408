"""The contract of both stores of passkeys."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from services.auth.application.stores import Stores
from tests.auth.cases import ANA, BEA, NOW, PASSKEY, SESSION, numbered_passkey


async def test_passkeys_are_found_with_their_account_until_they_are_deleted(
    stores: Stores,
) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
    assert await stores.passkeys.add(ANA, PASSKEY, 10)
    assert await stores.passkeys.add(ANA, numbered_passkey(1), 10)
    assert await stores.passkeys.add(BEA, numbered_passkey(1, BEA), 10)

    assert await stores.passkeys.find(PASSKEY.id) == (PASSKEY, ANA)
    assert set(await stores.passkeys.list_all(ANA.id)) == {PASSKEY, numbered_passkey(1)}
    for wrong in ("", "unknown", PASSKEY.id.lower()):
        assert await stores.passkeys.find(wrong) is None
    assert not await stores.passkeys.delete(BEA.id, PASSKEY.id)
    assert await stores.passkeys.delete(ANA.id, PASSKEY.id)
    assert not await stores.passkeys.delete(ANA.id, PASSKEY.id)
    assert await stores.passkeys.find(PASSKEY.id) is None
    assert await stores.passkeys.list_all(BEA.id) == [numbered_passkey(1, BEA)]


async def test_an_account_has_no_more_passkeys_than_the_limit(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    results = await asyncio.gather(
        *(stores.passkeys.add(ANA, numbered_passkey(number), 10) for number in range(15))
    )
    assert sum(results) == len(await stores.passkeys.list_all(ANA.id)) == 10


async def test_no_two_passkeys_have_the_same_id(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
    assert await stores.passkeys.add(ANA, PASSKEY, 10)
    assert not await stores.passkeys.add(ANA, replace(PASSKEY, name="Other"), 10)
    assert not await stores.passkeys.add(BEA, replace(PASSKEY, account_id=BEA.id), 10)
    assert await stores.passkeys.find(PASSKEY.id) == (PASSKEY, ANA)
    assert await stores.passkeys.list_all(BEA.id) == []


async def test_a_passkey_is_added_only_to_an_account_as_it_was_read(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    assert not await stores.passkeys.add(BEA, numbered_passkey(1, BEA), 10)
    await stores.accounts.change_password(ANA, "hash", "salt", SESSION, revoke=False)
    assert not await stores.passkeys.add(ANA, PASSKEY, 10)
    changed = replace(ANA, session=1, password_hash="hash", salt="salt")
    assert await stores.passkeys.add(changed, PASSKEY, 10)
    await stores.accounts.close(ANA.email_key)
    assert not await stores.passkeys.add(changed, numbered_passkey(1), 10)
    assert await stores.passkeys.find(PASSKEY.id) == (PASSKEY, replace(changed, closed=True))


async def test_of_concurrent_uses_with_one_sign_count_one_is_recorded(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    for each in (PASSKEY, numbered_passkey(1)):
        await stores.passkeys.add(ANA, each, 10)
    results = await asyncio.gather(
        *(stores.passkeys.record_use(PASSKEY, 5, NOW) for _ in range(10))
    )
    assert sum(results) == 1
    used = replace(PASSKEY, sign_count=5, last_used_at=NOW)
    assert await stores.passkeys.find(PASSKEY.id) == (used, ANA)
    assert await stores.passkeys.find(numbered_passkey(1).id) == (numbered_passkey(1), ANA)
    # An authenticator without a counter reports zero each time.
    for minute in range(2):
        at = NOW + timedelta(minutes=minute)
        assert await stores.passkeys.record_use(numbered_passkey(1), 0, at)
    assert not await stores.passkeys.record_use(numbered_passkey(2), 1, NOW)
