"""The contract of both stores of connections."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from services.auth.application.stores import Stores
from services.shared.errors import AlreadyExists
from tests.auth.cases import (
    ANA,
    BEA,
    CONNECTION,
    NOW,
    PASSKEY,
    numbered_connection,
    numbered_passkey,
)


async def test_connections_are_found_with_their_account_until_they_are_deleted(
    stores: Stores,
) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
    assert await stores.connections.add(ANA, CONNECTION, 10)
    assert await stores.connections.add(ANA, numbered_connection(1), 10)
    assert await stores.connections.add(BEA, numbered_connection(1, BEA), 10)

    assert await stores.connections.find(CONNECTION.id) == (CONNECTION, ANA)
    assert set(await stores.connections.list_all(ANA.id)) == {CONNECTION, numbered_connection(1)}
    assert await stores.connections.find("unknown") is None
    assert not await stores.connections.delete(BEA.id, CONNECTION.id)
    assert await stores.connections.delete(ANA.id, CONNECTION.id)
    assert not await stores.connections.delete(ANA.id, CONNECTION.id)
    assert await stores.connections.find(CONNECTION.id) is None
    assert await stores.connections.list_all(BEA.id) == [numbered_connection(1, BEA)]


async def test_a_subject_has_one_account_under_concurrent_calls(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
    results = await asyncio.gather(
        *(
            stores.connections.add(account, replace(CONNECTION, account_id=account.id), 10)
            for account in (ANA, BEA) * 3
        )
    )
    assert sum(results) == 1
    everything = [await stores.connections.list_all(account.id) for account in (ANA, BEA)]
    assert sum(map(len, everything)) == 1


async def test_an_account_is_not_created_for_a_subject_that_another_account_has(
    stores: Stores,
) -> None:
    await stores.accounts.add(ANA)
    await stores.connections.add(ANA, CONNECTION, 10)
    with pytest.raises(AlreadyExists):
        await stores.accounts.add_connected(BEA, replace(CONNECTION, account_id=BEA.id))
    assert await stores.accounts.by_id(BEA.id) is None
    assert await stores.connections.find(CONNECTION.id) == (CONNECTION, ANA)


async def test_the_last_use_of_a_connection_is_stored(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.connections.add(ANA, CONNECTION, 10)
    used_at = NOW + timedelta(minutes=3)
    assert await stores.connections.record_use(CONNECTION, used_at)
    assert await stores.connections.find(CONNECTION.id) == (
        replace(CONNECTION, last_used_at=used_at),
        ANA,
    )
    await stores.connections.delete(ANA.id, CONNECTION.id)
    assert not await stores.connections.record_use(CONNECTION, used_at)


async def test_connections_end_with_their_account(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.connections.add(ANA, CONNECTION, 10)
    await stores.accounts.close(ANA.email_key)
    assert await stores.connections.find(CONNECTION.id) == (CONNECTION, replace(ANA, closed=True))
    await stores.accounts.remove(ANA.id)
    assert await stores.connections.find(CONNECTION.id) is None


async def test_of_the_last_passkey_and_the_last_connection_one_remains(stores: Stores) -> None:
    """Both are deleted at once, on the condition that the other one is there."""
    await stores.accounts.add(ANA)
    assert not await stores.connections.delete_beside_passkey(ANA.id, CONNECTION.id)
    for number in range(10):
        connection, passkey = numbered_connection(number), numbered_passkey(number)
        await stores.connections.add(ANA, connection, 10)
        await stores.passkeys.add(ANA, passkey, 10)
        results = await asyncio.gather(
            stores.connections.delete_beside_passkey(ANA.id, connection.id),
            stores.passkeys.delete_beside_connection(ANA.id, passkey.id),
        )
        assert sorted(results) == [False, True]
        await stores.connections.delete(ANA.id, connection.id)
        await stores.passkeys.delete(ANA.id, passkey.id)


async def test_a_passkey_beside_a_connection_may_be_deleted(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.connections.add(ANA, CONNECTION, 10)
    await stores.passkeys.add(ANA, PASSKEY, 10)
    assert await stores.passkeys.delete_beside_connection(ANA.id, PASSKEY.id)
    assert await stores.passkeys.list_all(ANA.id) == []
    assert not await stores.connections.delete_beside_passkey(ANA.id, CONNECTION.id)
