"""The contract of both stores of accounts."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from services.auth.application.stores import Stores
from tests.auth.cases import ANA, BEA, SESSION, damage


async def test_accounts_are_found_by_key_and_by_id(stores: Stores) -> None:
    assert await stores.accounts.add(ANA) == ANA
    assert await stores.accounts.add(BEA) == BEA

    assert await stores.accounts.by_email("ana@example.com") == ANA
    assert await stores.accounts.by_email("bea@b") == BEA
    assert await stores.accounts.by_id(ANA.id) == ANA


async def test_other_keys_and_ids_find_nothing(stores: Stores) -> None:
    await stores.accounts.add(ANA)

    for key in ("", "ana", "Ana@Example.com", "ana@example.com ", "ana@example.co_", "%", "\0"):
        assert await stores.accounts.by_email(key) is None
    for account_id in ("", "ana@example.com", ANA.id.upper(), BEA.id, "\0", "x" * 10_000):
        assert await stores.accounts.by_id(account_id) is None


async def test_only_one_of_concurrent_registrations_gets_the_key(stores: Stores) -> None:
    accounts = [replace(ANA, id=f"{number:024x}") for number in range(50)]

    stored = await asyncio.gather(*(stores.accounts.add(account) for account in accounts))

    assert len(set(stored)) == 1
    found = await asyncio.gather(*(stores.accounts.by_id(account.id) for account in accounts))
    assert [each for each in found if each] == stored[:1]
    assert await stores.accounts.by_email(ANA.email_key) == stored[0]


async def test_a_closed_account_keeps_its_key_until_it_is_removed(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.add(BEA)
    for open_or_unknown in (BEA.id, ANA.id, "unknown"):
        await stores.accounts.remove(open_or_unknown)
    for _ in range(2):
        assert await stores.accounts.close(ANA.email_key) == ANA.id

        assert await stores.accounts.by_email(ANA.email_key) == replace(ANA, closed=True)
        assert await stores.accounts.add(ANA) == replace(ANA, closed=True)
    for _ in range(2):
        await stores.accounts.remove(ANA.id)

        assert await stores.accounts.by_email(ANA.email_key) is None
        assert await stores.accounts.close(ANA.email_key) is None
    again = replace(BEA, id="7b2e1c4d3f50617283940516", email_key=ANA.email_key)
    assert await stores.accounts.add(again) == again
    assert await stores.accounts.by_id(BEA.id) == BEA


async def test_a_password_change_increments_the_session_number(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.add(BEA)
    account = ANA
    for number in range(1, 4):
        assert await stores.accounts.change_password(
            account, f"hash {number}", f"salt {number}", SESSION, revoke=False
        )

        account = replace(
            ANA, password_hash=f"hash {number}", salt=f"salt {number}", session=number
        )
        assert await stores.accounts.by_id(ANA.id) == account
        assert await stores.accounts.by_email(ANA.email_key) == account
        assert await stores.accounts.add(ANA) == account
    assert await stores.accounts.by_id(BEA.id) == BEA


async def test_an_account_that_changed_since_it_was_read_is_not_changed(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.accounts.change_password(ANA, "other hash", "other salt", SESSION, revoke=False)
    stored = await stores.accounts.by_id(ANA.id)
    assert stored
    for other in (ANA, replace(stored, session=2), replace(stored, id="unknown"), BEA):
        assert not await stores.accounts.change_password(
            other, "hash", "salt", SESSION, revoke=False
        )
        assert not await stores.accounts.close_in_session(other)
    assert await stores.accounts.by_id(ANA.id) == stored
    assert await stores.accounts.by_id("unknown") is None

    await stores.accounts.close(ANA.email_key)
    closed = replace(stored, closed=True)
    for read in (stored, closed):
        assert not await stores.accounts.change_password(
            read, "hash", "salt", SESSION, revoke=False
        )
        assert not await stores.accounts.close_in_session(read)
    assert await stores.accounts.by_id(ANA.id) == closed


@pytest.mark.parametrize("before", [0, 1])
async def test_only_one_of_concurrent_changes_is_made(stores: Stores, before: int) -> None:
    await stores.accounts.add(ANA)
    for _ in range(before):
        await stores.accounts.change_password(
            ANA, ANA.password_hash, ANA.salt, SESSION, revoke=False
        )
    read = replace(ANA, session=before)

    made = await asyncio.gather(
        *(
            stores.accounts.change_password(read, f"hash {n}", f"salt {n}", SESSION, revoke=False)
            for n in range(20)
        ),
        stores.accounts.close_in_session(read),
    )

    assert made.count(True) == 1
    n = made.index(True)
    changed = replace(ANA, password_hash=f"hash {n}", salt=f"salt {n}", session=before + 1)
    closed = replace(read, closed=True)
    assert await stores.accounts.by_id(ANA.id) == (changed if n < 20 else closed)


async def test_closed_accounts_are_listed_until_they_are_removed(stores: Stores) -> None:
    accounts = [replace(ANA, id=f"{n:024x}", email_key=f"{n}@b") for n in range(5)]
    for account in accounts:
        await stores.accounts.add(account)
    assert await stores.accounts.list_closed(3) == []

    await stores.accounts.close(accounts[1].email_key)
    await stores.accounts.close_in_session(accounts[3])
    ids = {accounts[1].id, accounts[3].id}
    assert sorted(await stores.accounts.list_closed(3)) == sorted(ids)
    assert sorted(await stores.accounts.list_closed(2)) == sorted(ids)
    (one,) = await stores.accounts.list_closed(1)
    assert one in ids

    await stores.accounts.remove(one)
    assert await stores.accounts.list_closed(3) == list(ids - {one})


async def test_an_unreadable_account_is_closed_and_removed(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await damage(stores, "accounts", ("id", ANA.id), created_at="x")
    with pytest.raises(TypeError):
        await stores.accounts.by_id(ANA.id)

    assert await stores.accounts.close(ANA.email_key) == ANA.id
    assert await stores.accounts.list_closed(1) == [ANA.id]
    await stores.accounts.remove(ANA.id)
    assert await stores.accounts.by_id(ANA.id) is None
