"""The contract of both stores of API keys."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from pymongo.errors import DuplicateKeyError

from services.auth.application.stores import Stores
from services.auth.domain.account import Account
from services.auth.domain.api_key import MAX_KEYS, Scope
from tests.auth.cases import ANA, BEA, KEY, NOW, SESSION, numbered_key


async def test_a_key_is_found_by_its_hash_and_listed_for_its_account(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.add(BEA)
    other = replace(numbered_key(1, BEA), scopes=(Scope.LINKS_WRITE,), expires_at=None)
    assert await stores.keys.add(ANA, KEY, 2)
    assert await stores.keys.add(BEA, other, 2)
    assert await stores.keys.add(BEA, numbered_key(2, BEA), 2)

    assert await stores.keys.find(KEY.key_hash) == (KEY, ANA)
    assert await stores.keys.find(other.key_hash) == (other, BEA)
    assert await stores.keys.list_all(ANA.id) == [KEY]
    listed = await stores.keys.list_all(BEA.id)
    assert sorted(listed, key=lambda key: key.id) == [other, numbered_key(2, BEA)]
    for key_hash in (b"", bytes(32), KEY.key_hash[:31], KEY.key_hash + b"\0", b"x" * 10_000):
        assert await stores.keys.find(key_hash) is None
    assert await stores.keys.list_all("unknown") == []


async def test_keys_do_not_change_what_is_read_of_their_account(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.keys.add(ANA, KEY, 1)

    assert await stores.accounts.by_id(ANA.id) == ANA
    assert await stores.accounts.by_email(ANA.email_key) == ANA
    assert await stores.accounts.add(ANA) == ANA
    assert await stores.accounts.change_password(ANA, "hash", "salt", SESSION, revoke=False)
    changed = replace(ANA, password_hash="hash", salt="salt", session=1)
    assert await stores.keys.find(KEY.key_hash) == (KEY, changed)


async def test_an_account_has_no_more_keys_than_the_limit(stores: Stores) -> None:
    """Also if all of them are created at once."""
    for account in (ANA, BEA):
        await stores.accounts.add(account)
    made = [numbered_key(n, account) for n in range(MAX_KEYS + 10) for account in (ANA, BEA)]

    added = await asyncio.gather(
        *(stores.keys.add(ANA if key.account_id == ANA.id else BEA, key, MAX_KEYS) for key in made)
    )

    for account in (ANA, BEA):
        listed = await stores.keys.list_all(account.id)
        assert len(listed) == MAX_KEYS
        of_account = [
            key for key, ok in zip(made, added, strict=True) if ok and key.account_id == account.id
        ]
        assert sorted(listed, key=lambda key: key.id) == of_account
    refused = [key for key, ok in zip(made, added, strict=True) if not ok]
    assert [await stores.keys.find(key.key_hash) for key in refused] == [None] * 20
    assert await stores.keys.delete(ANA.id, (await stores.keys.list_all(ANA.id))[0].id)
    assert await stores.keys.add(ANA, KEY, MAX_KEYS)
    assert not await stores.keys.add(ANA, numbered_key(99), MAX_KEYS)


async def test_a_key_is_added_only_to_an_account_as_it_was_read(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    assert not await stores.keys.add(BEA, numbered_key(1, BEA), 20)
    await stores.accounts.change_password(ANA, "hash", "salt", SESSION, revoke=False)
    assert not await stores.keys.add(ANA, KEY, 20)
    changed = await stores.accounts.by_id(ANA.id)
    assert changed
    assert await stores.keys.add(changed, KEY, 20)

    await stores.accounts.close(ANA.email_key)
    for read in (changed, replace(changed, closed=True)):
        assert not await stores.keys.add(read, numbered_key(1), 20)
    assert await stores.keys.list_all(ANA.id) == [KEY]


async def test_no_two_keys_have_the_same_hash(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.add(BEA)
    await stores.keys.add(ANA, KEY, 20)
    with pytest.raises((sqlite3.IntegrityError, DuplicateKeyError)):
        await stores.keys.add(BEA, replace(numbered_key(1, BEA), key_hash=KEY.key_hash), 20)

    assert await stores.keys.find(KEY.key_hash) == (KEY, ANA)
    assert await stores.keys.list_all(BEA.id) == []


async def test_a_deleted_key_is_gone(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.add(BEA)
    for key in (KEY, numbered_key(1)):
        await stores.keys.add(ANA, key, 20)
    await stores.keys.add(BEA, numbered_key(1, BEA), 20)
    for account_id, key_id in ((BEA.id, KEY.id), (ANA.id, ""), (ANA.id, "\0"), ("", KEY.id)):
        assert not await stores.keys.delete(account_id, key_id)

    assert await stores.keys.delete(ANA.id, KEY.id)
    assert not await stores.keys.delete(ANA.id, KEY.id)
    assert await stores.keys.find(KEY.key_hash) is None
    assert await stores.keys.list_all(ANA.id) == [numbered_key(1)]
    for _ in range(2):
        await stores.keys.delete(ANA.id, numbered_key(1).id)
        assert await stores.keys.list_all(ANA.id) == []
    assert await stores.keys.list_all(BEA.id) == [numbered_key(1, BEA)]


async def test_accounts_whose_last_key_was_deleted_do_not_conflict(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
        await stores.keys.add(account, numbered_key(1, account), 20)
        await stores.keys.delete(account.id, numbered_key(1, account).id)
    for account in (ANA, BEA):
        assert await stores.keys.add(account, numbered_key(2, account), 20)


async def test_the_keys_of_a_closed_account_are_removed_with_it(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
        await stores.keys.add(account, numbered_key(1, account), 20)
    await stores.accounts.remove(ANA.id)
    assert await stores.keys.find(numbered_key(1).key_hash) == (numbered_key(1), ANA)

    await stores.accounts.close(ANA.email_key)
    closed = replace(ANA, closed=True)
    assert await stores.keys.find(numbered_key(1).key_hash) == (numbered_key(1), closed)
    for _ in range(2):
        await stores.accounts.remove(ANA.id)
        assert await stores.keys.find(numbered_key(1).key_hash) is None
        assert await stores.keys.list_all(ANA.id) == []
    assert await stores.keys.list_all(BEA.id) == [numbered_key(1, BEA)]
    assert await stores.accounts.add(ANA) == ANA
    assert await stores.keys.add(ANA, numbered_key(1), 1)


async def test_the_last_use_never_goes_back(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
        for n in range(3):
            await stores.keys.add(account, numbered_key(n, account), 20)

    async def last_uses(account: Account) -> list[datetime | None]:
        keys = await stores.keys.list_all(account.id)
        return [key.last_used_at for key in sorted(keys, key=lambda key: key.id)]

    one, two, third = (
        numbered_key(0).key_hash,
        numbered_key(1, BEA).key_hash,
        numbered_key(2, BEA).key_hash,
    )
    later, earlier = NOW + timedelta(minutes=1), NOW - timedelta(minutes=1)
    await stores.keys.record_uses({one: NOW, two: earlier, third: NOW, bytes(32): NOW})
    assert await last_uses(ANA) == [NOW, None, None]
    assert await last_uses(BEA) == [None, earlier, NOW]

    await stores.keys.record_uses({one: earlier, two: NOW, third: NOW})
    assert await last_uses(ANA) == [NOW, None, None]
    assert await last_uses(BEA) == [None, NOW, NOW]
    await asyncio.gather(
        *(stores.keys.record_uses({one: at}) for at in (NOW, later, earlier, NOW) * 5)
    )
    assert await last_uses(ANA) == [later, None, None]

    await stores.keys.delete(ANA.id, numbered_key(0).id)
    await stores.keys.record_uses({one: later})
    assert await last_uses(ANA) == [None, None]
