"""The contract of both stores of recovery codes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from prometheus_client import REGISTRY

from services.auth.application.stores import Stores
from services.auth.domain.account import Account
from services.auth.domain.recovery_code import RecoveryCode
from services.auth.domain.session import MAX_SESSIONS
from tests.auth.cases import (
    ANA,
    BEA,
    CODES,
    NOW,
    SESSION,
    code_hashes,
    damage,
    numbered_connection,
    numbered_key,
    numbered_passkey,
    numbered_session,
    session_ids,
)


async def test_a_new_set_of_recovery_codes_replaces_the_old_one(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
    assert await stores.recovery_codes.replace(ANA, CODES, NOW)
    assert await stores.recovery_codes.put_expiring(ANA.id, RecoveryCode(b"one", NOW))
    assert await stores.recovery_codes.replace(BEA, CODES[:2], NOW)
    assert await code_hashes(stores) == {*CODES, b"one"}

    assert await stores.recovery_codes.replace(ANA, CODES[:3], NOW)
    assert await code_hashes(stores) == set(CODES[:3])
    assert await code_hashes(stores, BEA) == set(CODES[:2])
    assert await code_hashes(stores, replace(ANA, id="nobody")) == set()


@pytest.mark.parametrize(
    "damaged", [{"created_at": "x"}, {"expires_at": "x"}, {"hash": "text"}], ids=str
)
async def test_an_unreadable_recovery_code_is_left_out(
    stores: Stores, damaged: dict[str, str]
) -> None:
    await stores.accounts.add(ANA)
    await stores.recovery_codes.replace(ANA, CODES, NOW)
    await damage(stores, "recovery_codes", ("hash", CODES[0]), **damaged)
    labels = {"record": "recovery_code"}
    before = REGISTRY.get_sample_value("atajo_unreadable_records_total", labels)
    assert before is not None
    assert await code_hashes(stores) == set(CODES[1:])
    assert REGISTRY.get_sample_value("atajo_unreadable_records_total", labels) == before + 1


async def test_an_account_has_one_expiring_code_beside_its_set(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.recovery_codes.replace(ANA, CODES[:1], NOW)
    later = NOW + timedelta(hours=1, microseconds=1)
    for code in (RecoveryCode(b"first", NOW), RecoveryCode(b"second", later)):
        assert await stores.recovery_codes.put_expiring(ANA.id, code)

    stored = await stores.recovery_codes.list_all(ANA.id)
    assert set(stored) == {
        RecoveryCode(CODES[0], created_at=NOW),
        RecoveryCode(b"second", later),
    }
    assert not await stores.recovery_codes.put_expiring(BEA.id, RecoveryCode(b"third", later))


async def test_recovery_codes_are_replaced_only_in_an_account_as_it_was_read(
    stores: Stores,
) -> None:
    await stores.accounts.add(ANA)
    await stores.recovery_codes.replace(ANA, CODES, NOW)
    await stores.sessions.add(ANA, SESSION, MAX_SESSIONS)
    await stores.sessions.delete_others(ANA, SESSION.id)
    assert not await stores.recovery_codes.replace(ANA, CODES[:1], NOW)
    assert not await stores.recovery_codes.replace(BEA, CODES[:1], NOW)
    assert await code_hashes(stores) == set(CODES)
    assert await stores.recovery_codes.replace(replace(ANA, session=1), CODES[:1], NOW)


async def test_a_spent_code_sets_the_password_and_ends_all_sessions(stores: Stores) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
        await stores.recovery_codes.replace(account, CODES, NOW)
    for number in range(2):
        await stores.sessions.add(ANA, numbered_session(number), MAX_SESSIONS)

    results = await asyncio.gather(
        *(
            stores.recovery_codes.spend(
                ANA.id, RecoveryCode(CODES[3]), f"hash {n}", f"salt {n}", revoke=False, now=NOW
            )
            for n in range(20)
        )
    )
    assert sum(results) == 1
    number = results.index(True)
    changed = replace(ANA, password_hash=f"hash {number}", salt=f"salt {number}", session=1)
    assert await stores.accounts.by_id(ANA.id) == changed
    assert await session_ids(stores) == set()
    assert await code_hashes(stores) == {*CODES} - {CODES[3]}
    assert await code_hashes(stores, BEA) == set(CODES)
    for wrong in (b"unknown", CODES[3]):
        assert not await spend(stores, RecoveryCode(wrong), "other hash")
    assert await stores.accounts.by_id(ANA.id) == changed


async def filled_account(stores: Stores) -> None:
    """Store two accounts with sessions, ten codes and one of the operator, keys and passkeys."""
    for account in (ANA, BEA):
        await stores.accounts.add(account)
        await stores.recovery_codes.replace(account, CODES, NOW)
        await stores.recovery_codes.put_expiring(account.id, OPERATORS_CODE)
        for number in range(2):
            await stores.keys.add(account, numbered_key(number, account), 20)
            await stores.passkeys.add(account, numbered_passkey(number, account), 10)
            await stores.connections.add(account, numbered_connection(number, account), 10)


async def ways_in(stores: Stores, account: Account = ANA) -> tuple[int, int, int, int]:
    """Return how many recovery codes, API keys, passkeys and connections an account has."""
    return (
        len(await stores.recovery_codes.list_all(account.id)),
        len(await stores.keys.list_all(account.id)),
        len(await stores.passkeys.list_all(account.id)),
        len(await stores.connections.list_all(account.id)),
    )


OPERATORS_CODE = RecoveryCode(b"operator", NOW + timedelta(hours=1))


@pytest.mark.parametrize(("revoke", "left"), [(False, (0, 2, 2, 2)), (True, (0, 0, 0, 0))])
async def test_a_new_password_deletes_all_recovery_codes_and_may_revoke_the_rest(
    stores: Stores, revoke: bool, left: tuple[int, int, int, int]
) -> None:
    await filled_account(stores)
    other = replace(ANA, session=1)
    assert not await stores.accounts.change_password(other, "hash", "salt", SESSION, revoke)
    assert await ways_in(stores) == (11, 2, 2, 2)

    assert await stores.accounts.change_password(ANA, "hash", "salt", SESSION, revoke)
    assert await ways_in(stores) == left
    assert (await stores.keys.find(numbered_key(0).key_hash) is None) == revoke
    assert (await stores.passkeys.find(numbered_passkey(0).id) is None) == revoke
    assert (await stores.connections.find(numbered_connection(0).id) is None) == revoke
    assert await ways_in(stores, BEA) == (11, 2, 2, 2)
    changed = replace(ANA, session=1)
    assert await stores.keys.add(changed, numbered_key(5), 3)
    assert await stores.passkeys.add(changed, numbered_passkey(5), 3)


@pytest.mark.parametrize(
    ("code", "revoke", "left"),
    [
        (RecoveryCode(CODES[3]), False, (9, 2, 2, 2)),
        (RecoveryCode(CODES[3]), True, (9, 0, 0, 0)),
        (OPERATORS_CODE, True, (0, 0, 0, 0)),
    ],
)
async def test_a_spent_code_leaves_no_link_of_the_operator_and_may_revoke_the_rest(
    stores: Stores, code: RecoveryCode, revoke: bool, left: tuple[int, int, int, int]
) -> None:
    await filled_account(stores)
    assert not await spend(stores, RecoveryCode(b"unknown"), "hash", revoke)
    assert await ways_in(stores) == (11, 2, 2, 2)

    assert await spend(stores, code, "hash", revoke)
    assert await ways_in(stores) == left
    assert await code_hashes(stores) == ({*CODES} - {code.hash} if left[0] else set())
    assert await ways_in(stores, BEA) == (11, 2, 2, 2)


async def spend(
    stores: Stores,
    code: RecoveryCode,
    password_hash: str,
    revoke: bool = False,
    now: datetime = NOW,
) -> bool:
    return await stores.recovery_codes.spend(
        ANA.id, code, password_hash, "salt", revoke=revoke, now=now
    )


async def test_an_expired_code_and_those_of_a_closed_account_cannot_be_spent(
    stores: Stores,
) -> None:
    await stores.accounts.add(ANA)
    await stores.recovery_codes.replace(ANA, CODES, NOW)
    expiring = RecoveryCode(b"one", NOW)
    await stores.recovery_codes.put_expiring(ANA.id, expiring)
    assert not await spend(stores, expiring, "hash")
    just_before = NOW - timedelta(microseconds=1)
    assert await spend(stores, expiring, "hash", now=just_before)
    await stores.recovery_codes.replace(replace(ANA, session=1), CODES, NOW)
    assert await stores.accounts.close(ANA.email_key)
    assert not await spend(stores, RecoveryCode(CODES[0]), "other")
    assert not await stores.recovery_codes.put_expiring(ANA.id, RecoveryCode(b"two", NOW))
    account = await stores.accounts.by_id(ANA.id)
    assert account is not None
    assert account.password_hash == "hash"
