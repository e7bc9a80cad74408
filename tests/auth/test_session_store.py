"""The contract of both stores of sessions."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from services.auth.application.stores import Stores
from services.auth.domain.session import MAX_SESSIONS
from tests.auth.cases import ANA, BEA, NOW, SESSION, damage, numbered_session, session_ids


async def test_sessions_are_found_with_their_account_until_they_are_deleted(
    stores: Stores,
) -> None:
    for account in (ANA, BEA):
        await stores.accounts.add(account)
    assert await stores.sessions.add(ANA, SESSION, MAX_SESSIONS)
    assert await stores.sessions.add(ANA, numbered_session(1), MAX_SESSIONS)
    theirs = replace(numbered_session(2), account_id=BEA.id)
    assert await stores.sessions.add(BEA, theirs, MAX_SESSIONS)

    assert await stores.sessions.find(ANA.id, SESSION.id) == (SESSION, ANA)
    assert await stores.sessions.find(BEA.id, SESSION.id) is None
    assert await stores.sessions.find("nobody", SESSION.id) is None
    assert await stores.sessions.list_all(BEA.id) == [theirs]
    assert not await stores.sessions.delete(BEA.id, SESSION.id)
    assert await stores.sessions.delete(ANA.id, SESSION.id)
    assert not await stores.sessions.delete(ANA.id, SESSION.id)
    assert await stores.sessions.find(ANA.id, SESSION.id) is None
    assert await session_ids(stores) == {numbered_session(1).id}
    assert await session_ids(stores, BEA) == {theirs.id}


async def test_a_session_begins_only_with_the_current_password_in_an_open_account(
    stores: Stores,
) -> None:
    await stores.accounts.add(ANA)
    assert await stores.accounts.change_password(ANA, "hash", "salt", SESSION, revoke=False)
    assert not await stores.sessions.add(ANA, numbered_session(1), MAX_SESSIONS)
    changed = replace(ANA, session=1, password_hash="hash", salt="salt")
    assert await stores.sessions.add(changed, numbered_session(1), MAX_SESSIONS)
    assert await stores.accounts.close_in_session(changed)
    assert not await stores.sessions.add(changed, numbered_session(2), MAX_SESSIONS)
    assert not await stores.sessions.add(BEA, numbered_session(3), MAX_SESSIONS)
    assert await session_ids(stores) == {SESSION.id, numbered_session(1).id}
    found = await stores.sessions.find(ANA.id, SESSION.id)
    assert found is not None
    assert found[1].closed


async def test_a_password_change_replaces_all_sessions(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    for number in range(3):
        await stores.sessions.add(ANA, numbered_session(number), MAX_SESSIONS)
    assert await stores.accounts.change_password(ANA, "hash", "salt", SESSION, revoke=False)
    assert await session_ids(stores) == {SESSION.id}


async def test_the_oldest_and_expired_sessions_are_deleted(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    for number in range(4):
        await stores.sessions.add(ANA, numbered_session(number), 3)
    assert await session_ids(stores) == {numbered_session(number).id for number in (1, 2, 3)}
    late = numbered_session(9, created_at=numbered_session(2).expires_at)
    assert await stores.sessions.add(ANA, late, 3)
    assert await session_ids(stores) == {numbered_session(3).id, late.id}


async def test_all_other_sessions_end_together(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    for number in range(3):
        await stores.sessions.add(ANA, numbered_session(number), MAX_SESSIONS)
    assert await stores.sessions.delete_others(ANA, numbered_session(1).id) == 2
    assert await session_ids(stores) == {numbered_session(1).id}
    # A log-in that checked its password before begins its session nevertheless.
    assert await stores.sessions.add(ANA, numbered_session(5), MAX_SESSIONS)
    assert await stores.sessions.delete(ANA.id, numbered_session(5).id)
    # The session number changed, so that tokens of sessions that are not stored end, too.
    assert await stores.sessions.delete_others(ANA, numbered_session(1).id) is None
    changed = replace(ANA, session=1)
    assert await stores.accounts.by_id(ANA.id) == changed
    assert await stores.sessions.delete_others(changed, "not stored") == 1
    assert await stores.accounts.by_id(ANA.id) == changed


async def test_other_sessions_end_although_the_own_one_ends_meanwhile(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    for number in range(3):
        await stores.sessions.add(ANA, numbered_session(number), MAX_SESSIONS)
    deleted, was_stored = await asyncio.gather(
        stores.sessions.delete_others(ANA, numbered_session(1).id),
        stores.sessions.delete(ANA.id, numbered_session(1).id),
    )
    assert (deleted, was_stored) == (2, True)
    assert await session_ids(stores) == set()


@pytest.mark.parametrize("unreadable", [0, 1])
async def test_unreadable_sessions_count_when_the_others_end(
    stores: Stores, unreadable: int
) -> None:
    await stores.accounts.add(ANA)
    for number in range(3):
        await stores.sessions.add(ANA, numbered_session(number), MAX_SESSIONS)
    await damage(stores, "sessions", ("id", numbered_session(unreadable).id), created_at="x")
    assert await stores.sessions.delete_others(ANA, numbered_session(1).id) == 2
    assert await stores.accounts.by_id(ANA.id) == replace(ANA, session=1)


async def test_the_id_of_the_remaining_session_is_not_an_expression(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.sessions.add(ANA, SESSION, MAX_SESSIONS)
    assert await stores.sessions.delete_others(ANA, "$$this.id") == 1
    assert await session_ids(stores) == set()


async def test_the_last_use_of_a_session_only_advances(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    for number in range(2):
        await stores.sessions.add(ANA, numbered_session(number), MAX_SESSIONS)
    hour = SESSION.last_seen_at + timedelta(hours=1)
    for at in (hour, hour - timedelta(hours=1)):
        await stores.sessions.record_uses(
            {
                (ANA.id, numbered_session(0).id): at,
                (ANA.id, "ended"): at,
                ("nobody", numbered_session(1).id): at,
            }
        )
        assert await stores.sessions.find(ANA.id, numbered_session(0).id) == (
            numbered_session(0, last_seen_at=hour),
            replace(ANA, last_seen_at=hour),
        )
    assert await stores.sessions.find(ANA.id, numbered_session(1).id) == (
        numbered_session(1),
        replace(ANA, last_seen_at=hour),
    )


async def test_a_session_is_confirmed_until_it_ends(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.sessions.add(ANA, SESSION, MAX_SESSIONS)
    later = NOW + timedelta(minutes=20)
    assert await stores.sessions.confirm(ANA.id, SESSION.id, later)
    confirmed = replace(SESSION, confirmed_at=later)
    assert await stores.sessions.find(ANA.id, SESSION.id) == (confirmed, ANA)

    await stores.sessions.delete(ANA.id, SESSION.id)
    assert not await stores.sessions.confirm(ANA.id, SESSION.id, later)
    assert not await stores.sessions.confirm("nobody", SESSION.id, later)


async def test_a_suspended_account_gets_no_session(stores: Stores) -> None:
    suspended = replace(ANA, suspended=True)
    await stores.accounts.add(suspended)
    assert not await stores.sessions.add(ANA, SESSION, MAX_SESSIONS)
    assert await session_ids(stores) == set()


async def test_sessions_are_deleted_with_their_account(stores: Stores) -> None:
    await stores.accounts.add(ANA)
    await stores.sessions.add(ANA, SESSION, MAX_SESSIONS)
    await stores.accounts.close(ANA.email_key)
    await stores.accounts.remove(ANA.id)
    assert await stores.accounts.add(ANA) == ANA
    assert await session_ids(stores) == set()
